"""Jobs through SLURM, with stand-ins for its four commands; they take the words that the real ones take."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sciextract.retraining.remote import jobs, results
from sciextract.retraining.remote.results import follow
from sciextract.retraining.remote.start import RemoteTask
from sciextract.retraining.run_folder import Run
from tests.remote.starting import start
from tests.ssh_server import Server

pytestmark = pytest.mark.xdist_group("sshd")
PATIENCE_SECONDS = 30.0
_COMMANDS = {
    # The output goes where the script's own lines say, as the real one does it.
    "sbatch": """\
import re, subprocess, sys
assert sys.argv[1] == "--parsable"
output = re.search("(?m)^#SBATCH --output=(.*)$", open(sys.argv[2]).read())[1]
log = open(output, "ab")
job = subprocess.Popen(["sh", sys.argv[2]], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                       start_new_session=True)
print(f"{job.pid};cluster")
""",
    "srun": """\
import os, sys
words = sys.argv[1:]
while words[0].startswith("--"):
    del words[0]
os.execvp(words[0], words)
""",
    "squeue": """\
import os, sys
assert sys.argv[1:3] == ["--noheader", "--jobs"]
try:
    os.killpg(int(sys.argv[3]), 0)
    print(sys.argv[3], "running")
except ProcessLookupError:
    pass
""",
    "scancel": """\
import os, signal, sys
assert sys.argv[1] == "--signal=INT"
os.killpg(int(sys.argv[2]), signal.SIGINT)
""",
}


@pytest.fixture
def cluster(server: Server) -> Iterator[Path]:
    folder = server.home / "bin"
    folder.mkdir()
    for name, script in _COMMANDS.items():
        (folder / name).write_text(f"#!{sys.executable}\n{script}")
        (folder / name).chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def slurm(cluster: Path, task: Callable[..., RemoteTask]) -> Callable[..., RemoteTask]:
    def make(*words: str) -> RemoteTask:
        plain = task(*words)
        return replace(plain, target=replace(plain.target, slurm=True, device="cuda"))

    return make


def test_a_job_goes_through_the_queue(
    run: Run, slurm: Callable[..., RemoteTask], server: Server
) -> None:
    location = start(run, slurm("3", "0"))
    script = (server.home / location.folder / "job.sh").read_text()
    assert "#SBATCH --gres=gpu:1\n" in script and "srun --ntasks=1 " in script
    assert script.index("#SBATCH") < script.index("cd ")
    ended = follow(run, location, lambda: None, lambda why, seconds: pytest.fail(why))
    assert ended.exit == 0
    assert [event["number"] for event in run.metrics()] == [0, 1, 2]
    assert "step 2" in ended.log


def test_a_job_is_cancelled_through_the_queue(run: Run, slurm: Callable[..., RemoteTask]) -> None:
    location = start(run, slurm("1", "0", "forever"))
    until = time.monotonic() + PATIENCE_SECONDS
    while "step 0" not in jobs.job_state(location).log:
        assert time.monotonic() < until
    assert jobs.job_state(location).runs
    results.cancel(location)
    while jobs.job_state(location).exit is None:
        assert time.monotonic() < until
    assert jobs.job_state(location).exit == 130
