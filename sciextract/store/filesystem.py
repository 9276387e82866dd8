"""What the file system of a project can do: whether a network is in between, whether it takes writes, how much is free."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

#: File systems on which SQLite's shared memory (WAL) does not work across machines
#: (sqlite.org/wal.html, "WAL does not work over a network filesystem").
NETWORK_TYPES = frozenset((
    "nfs", "nfs3", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afpfs", "webdav", "davfs", "9p", "afs",
    "ceph", "lustre", "gpfs", "beegfs", "glusterfs", "ncpfs", "ocfs2", "gfs2", "fuse.sshfs", "fuse.rclone",
    "fuse.glusterfs", "fuse.davfs2", "fuse.s3fs", "fuse.gcsfuse",
))  # fmt: skip
_MOUNTS = Path("/proc/self/mountinfo")
_DRIVE_REMOTE = 4


def is_network(path: Path) -> bool:
    """Whether a file lies (or would lie) on a network file system; unknown ones count as local."""
    if os.environ.get("SCIEXTRACT_NETWORK_FS"):
        return True
    resolved = path.resolve()
    if sys.platform == "win32":
        import ctypes

        kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - absent from other systems' stubs
        remote = kernel.GetDriveTypeW(resolved.anchor) == _DRIVE_REMOTE
        return str(resolved).startswith("\\\\") or bool(remote)
    types = mount_types(_MOUNTS.read_text()) if _MOUNTS.exists() else _types_by_command()
    mounted = (str(place) for place in (resolved, *resolved.parents))
    return next((types[place] for place in mounted if place in types), "") in NETWORK_TYPES


def is_read_only_medium(path: Path) -> bool:
    """Whether the file system itself takes no writes, for anyone."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except (AttributeError, OSError):
        return False


def free_bytes(folder: Path) -> int:
    """Bytes that are free on the file system of a folder."""
    return shutil.disk_usage(folder).free


def mount_types(mountinfo: str) -> dict[str, str]:
    """Mount points and their file system types, from the text of Linux's ``mountinfo``.

    >>> mount_types("36 25 0:32 / /home/ann rw - nfs4 server:/home rw")
    {'/home/ann': 'nfs4'}
    """
    types = {}
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(), after.split()
        if len(fields) > 4 and kinds:
            types[fields[4].encode().decode("unicode_escape")] = kinds[0]
    return types


def _types_by_command() -> dict[str, str]:
    """Mount points of macOS and the BSDs: ``server:/x on /Volumes/x (nfs, nodev)``."""
    try:
        done = subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    types = {}
    for line in done.stdout.splitlines():
        place, _, kinds = line.partition(" on ")[2].rpartition(" (")
        types[place] = kinds.split(",")[0].rstrip(")")
    return types
