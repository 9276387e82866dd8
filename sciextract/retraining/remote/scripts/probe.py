"""What the other machine has, as one JSON line."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys

NEEDED = ("torch", "transformers", "safetensors", "onnx", "onnxscript", "onnxruntime", "tokenizers",
          "numpy", "typer", "rich", "platformdirs", "msgspec")  # fmt: skip


def gpus() -> list[str]:
    """Names of NVIDIA cards, as listed by the driver's tool."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    done = subprocess.run([tool, "--query-gpu=name", "--format=csv,noheader"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)  # fmt: skip
    return [
        line.strip() for line in done.stdout.decode(errors="replace").splitlines() if line.strip()
    ]


def main() -> None:
    """Print everything."""
    home = os.path.expanduser("~")
    room = os.statvfs(home)
    machine = {
        "python": list(sys.version_info[:3]),
        "executable": sys.executable,
        "missing": [name for name in NEEDED if importlib.util.find_spec(name) is None],
        "gpus": gpus(),
        "free_bytes": room.f_bavail * room.f_frsize,
        "home": home,
        "writable": os.access(home, os.W_OK),
        "rsync": shutil.which("rsync") is not None,
        "sbatch": shutil.which("sbatch") is not None,
        "system": platform.system() + " " + platform.machine(),
    }
    print(json.dumps(machine))


if __name__ == "__main__":
    main()
