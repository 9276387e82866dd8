"""Energy from counters that a folder and a command pretend to be, and from real ones where there are any."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from sciextract.retraining.run_folder import Run
from sciextract_trainer.hardware.device import CPU
from sciextract_trainer.hardware.energy import (
    CardPower,
    EnergyMeter,
    EnergyUnreadableError,
    RaplCounter,
    packages,
)
from sciextract_trainer.sessions import cards_of, recorded


def _counter(powercap: Path, zone: str, name: str, energy_uj: int, range_uj: int = 1000) -> Path:
    folder = powercap / zone
    folder.mkdir(parents=True)
    for file, value in {
        "name": name,
        "energy_uj": energy_uj,
        "max_energy_range_uj": range_uj,
    }.items():
        (folder / file).write_text(f"{value}\n")
    return folder


def _set(folder: Path, energy_uj: int) -> None:
    (folder / "energy_uj").write_text(f"{energy_uj}\n")


def test_packages_are_counted_and_their_parts_are_not(tmp_path: Path) -> None:
    first = _counter(tmp_path, "intel-rapl:0", "package-0", 0)
    second = _counter(tmp_path, "intel-rapl:1", "package-1", 0)
    _counter(tmp_path, "intel-rapl:0:0", "core", 0)
    _counter(tmp_path, "intel-rapl:2", "psys", 0)
    (tmp_path / "intel-rapl:3").mkdir()
    assert packages(tmp_path) == [first, second]


def test_the_energy_of_a_block_is_the_difference_of_the_counters(tmp_path: Path) -> None:
    folder = _counter(tmp_path, "intel-rapl:0", "package-0", 5_000_000, 10_000_000)
    other = _counter(tmp_path, "intel-rapl:1", "package-1", 0, 10_000_000)
    with EnergyMeter(powercap=tmp_path) as meter:
        _set(folder, 8_600_000)
        _set(other, 400_000)
    assert meter.to_json() == {
        "energy": {
            "joules": 4.0, "watt_hours": 0.001, "of": {"package-0": 3.6, "package-1": 0.4}
        },
        "energy_not_read": [],
    }  # fmt: skip


def test_a_counter_that_begins_again_is_seen(tmp_path: Path) -> None:
    counter = RaplCounter.opened(_counter(tmp_path, "intel-rapl:0", "package-0", 900, 1000))
    _set(counter.folder, 100)
    counter.read()
    _set(counter.folder, 50)
    counter.read()
    assert counter.joules == pytest.approx((200 + 950) / 1e6)


def test_counters_are_read_often_enough_to_see_them_begin_again(tmp_path: Path) -> None:
    folder = _counter(tmp_path, "intel-rapl:0", "package-0", 0, 1_000_000)
    seen = threading.Event()

    class Watched(EnergyMeter):
        def _read(self) -> None:
            super()._read()
            seen.set()

    with Watched(powercap=tmp_path, seconds_between=0.01) as meter:
        for value in (900_000, 800_000):
            _set(folder, value)
            for _ in range(2):  # the first reading may have begun before the value was there
                seen.clear()
                assert seen.wait(10)
    assert meter.to_json()["energy"]["joules"] == pytest.approx(1.8)


def test_counters_only_root_may_read_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _counter(tmp_path, "intel-rapl:0", "package-0", 0)
    read = Path.read_text

    def refused(path: Path, *rest: object, **named: object) -> str:
        if path.name == "energy_uj":
            raise PermissionError(13, "Permission denied")
        return read(path, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "read_text", refused)
    with EnergyMeter(powercap=tmp_path) as meter:
        pass
    told = {"energy": None, "energy_not_read": [f"{folder}/energy_uj: only root may read it"]}
    assert meter.to_json() == told


@pytest.mark.parametrize("content", ["", "many", "-3"])
def test_a_counter_that_is_no_number_is_said(tmp_path: Path, content: str) -> None:
    folder = _counter(tmp_path, "intel-rapl:0", "package-0", 0)
    (folder / "energy_uj").write_text(content)
    with pytest.raises(EnergyUnreadableError, match="is no number"):
        RaplCounter.opened(folder)


def test_a_counter_that_goes_away_is_left_out(tmp_path: Path) -> None:
    folder = _counter(tmp_path, "intel-rapl:0", "package-0", 0)
    with EnergyMeter(powercap=tmp_path) as meter:
        (folder / "energy_uj").unlink()
    assert meter.to_json()["energy"] is None
    assert "No such file" in meter.to_json()["energy_not_read"][0]


def test_no_counter_at_all_is_said(tmp_path: Path) -> None:
    with EnergyMeter(powercap=tmp_path / "nowhere") as meter:
        pass
    assert meter.to_json()["energy"] is None
    assert "no energy counter" in meter.to_json()["energy_not_read"][0]


def _fake_nvidia_smi(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    folder.mkdir()
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_the_power_of_cards_adds_up_over_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fake_nvidia_smi(
        tmp_path / "bin", monkeypatch, f'echo "$@" > {tmp_path}/asked; echo 100.5; echo 99.5'
    )
    clock = iter([10.0, 14.0, 15.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    power = CardPower.opened(["0", "1"])
    power.last_watts = 100.0
    power.read()
    assert power.joules == pytest.approx(600.0) and power.name == "2 NVIDIA cards"
    power.read()
    assert power.joules == pytest.approx(800.0)
    assert "--id=0,1" in (tmp_path / "asked").read_text()


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo '[N/A]'", r"tells no power: \[N/A\]"),
        ("echo 'No devices were found' >&2; exit 6", "tells no power: No devices"),
        ("true", "tells no power"),
    ],
)
def test_cards_that_do_not_tell_their_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, told: str
) -> None:
    _fake_nvidia_smi(tmp_path / "bin", monkeypatch, script)
    with pytest.raises(EnergyUnreadableError, match=told):
        CardPower.opened(["0"])


def test_no_nvidia_smi_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with EnergyMeter(["0"], tmp_path) as meter:
        pass
    assert any("nvidia-smi" in each for each in meter.to_json()["energy_not_read"])


def test_a_stopped_training_and_the_one_that_goes_on_are_both_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _counter(tmp_path / "cap", "intel-rapl:0", "package-0", 0, 10_000_000)
    monkeypatch.setattr("sciextract_trainer.sessions.EnergyMeter", _meter_in(tmp_path / "cap"))
    run = Run(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt), recorded(run, CPU):
        _set(folder, 1_000_000)
        raise KeyboardInterrupt
    with recorded(run, CPU, processes=2):
        _set(folder, 3_000_000)
    stored = json.loads((run.folder / "run.json").read_text("utf-8"))
    assert stored["energy"] == {"joules": 3.0, "watt_hours": 0.001}
    assert [each["processes"] for each in stored["sessions"]] == [1, 2]
    assert stored["seconds"] == pytest.approx(
        sum(each["seconds"] for each in stored["sessions"]), abs=0.11
    )


def _meter_in(powercap: Path) -> object:
    return lambda cards: EnergyMeter(cards, powercap)


def test_a_processor_uses_no_card() -> None:
    assert cards_of(CPU) == []


def test_the_counters_of_this_machine_can_be_read_or_say_why() -> None:
    with EnergyMeter() as meter:
        torch.ones(500, 500) @ torch.ones(500, 500)
    told = meter.to_json()
    assert told["energy"] is not None or told["energy_not_read"]
