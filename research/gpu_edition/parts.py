"""Files that travel in parts of limited size (``cat part-* | tar xz`` unpacks them), and weights of an encoder in six bits."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
from safetensors.numpy import load, load_file, save, save_file

from sciextract.errors import ModelDamagedError

STEPS = 31
"""Steps from 0 to the largest weight of a row, on each side: six bits, an error of some percent that reading on heals."""
_SCALE = "scale."


def write_parts(
    files: Mapping[str, Path], folder: Path, most: int, without: tuple[str, ...] = ()
) -> list[Path]:
    """Packs files and folders, by their names in the archive, into numbered parts of at most ``most`` bytes.

    Args:
        files: What to pack.
        folder: Gets the parts; those of an earlier packing are replaced.
        most: Bytes of a part.
        without: Words in the names of what is left out of folders.
    """

    def wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if any(word in member.name for word in without) else member

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("part-*"):
        old.unlink()
    with TemporaryFile() as packed:
        with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=6) as archive:
            for name, path in files.items():
                archive.add(path, name, filter=wanted)
        count, paths = -(-packed.tell() // most), list[Path]()
        packed.seek(0)
        for number in range(1, count + 1):
            paths.append(folder / f"part-{number:02}-of-{count:02}")
            paths[-1].write_bytes(packed.read(most))
    return paths


def write_coarse(source: Path, target: Path) -> None:
    """Weights with one scale a row, matrices as whole numbers of at most ``STEPS``; vectors in half precision."""
    coarse = {}
    for name, values in load_file(source).items():
        if values.dtype != np.float32:  # numbers of positions
            coarse[name] = values
        elif values.ndim == 2:
            scale = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-8) / STEPS
            coarse[_SCALE + name] = scale.astype(np.float32)
            coarse[name] = np.rint(values / scale).astype(np.int8)
        else:
            coarse[name] = values.astype(np.float16)
    # Such numbers repeat nothing: Huffman's code alone is smaller than LZMA makes them (five bits a weight), and fast.
    packer = zlib.compressobj(9, strategy=zlib.Z_HUFFMAN_ONLY)
    target.write_bytes(packer.compress(save(coarse)) + packer.flush())


def read_coarse(source: Path, target: Path) -> None:
    """The weights of :func:`write_coarse` in single precision.

    Raises:
        ModelDamagedError: The file is not whole.
    """
    try:
        coarse = load(zlib.decompress(source.read_bytes()))
    except (OSError, zlib.error) as error:
        raise ModelDamagedError(
            f"{source} cannot be read: {error}", "unpack the parts again"
        ) from error
    weights = {}
    for name, values in coarse.items():
        if _SCALE + name in coarse:
            weights[name] = values.astype(np.float32) * coarse[_SCALE + name]
        elif not name.startswith(_SCALE):
            weights[name] = values.astype(np.float32) if values.dtype == np.float16 else values
    save_file(weights, target, metadata={"format": "pt"})
