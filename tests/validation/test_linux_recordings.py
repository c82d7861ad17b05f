"""Tests of recordings of a Linux kernel: their figures, refused recordings, missing rights."""

import json
import math
import shutil
from pathlib import Path

import pytest

from longhaul._engine import EmulationError
from validation.linux import record
from validation.linux.cases import Case, Flow, Writes
from validation.linux.catalogue import cases, first_cases
from validation.linux.judge import FIRST, LATER, judge
from validation.linux.kernel import Recording

HEADER = "t,flow,cwnd,ssthresh,rtt_us,retrans,ca_state,bytes_acked\n"


def folder(tmp_path: Path, late_share: float = 0.0) -> Path:
    """Write a recording of 60 s and return its directory.

    The flow has a slow start to 40 segments, then a reduction every 10 s; the fraction `late_share`
    of packets is late.
    """
    lines, threshold, acked = [], 2**31 - 1, 0
    for number in range(6000):
        time = number / 100
        reduces = number >= 1000 and number % 1000 < 5
        if number % 1000 == 0 and number:
            threshold = 20 + number // 1000
        acked += 10_000
        cwnd = 40 if threshold > 1000 else 30
        state = 3 if reduces else 0
        lines.append(f"{time},0,{cwnd},{threshold},50000,{number // 1000},{state},{acked}\n")
    (tmp_path / "samples.csv").write_text(HEADER + "".join(lines), encoding="utf-8")
    about = {
        "case": {"sysctls": {}},
        "completion_s": [None],
        "counters": {"senders": {"TCPSackRecovery": 12, "TCPTimeouts": 1}},
        "kernel": "6.18.0-test",
        "lateness": {"mean_us": 5.0, "max_us": 900.0, "share_over_1ms": late_share},
        "sysctls": {"tcp_sack": "1"},
        "ticks": {"used": 10, "idle": 90, "stolen": 0},
    }
    (tmp_path / "recording.json").write_text(json.dumps(about), encoding="utf-8")
    return tmp_path


def test_figures_of_a_recording(tmp_path: Path) -> None:
    case = Case("s_reno_1", 33, 60, (Flow("reno"),))
    recording = Recording.read(folder(tmp_path))
    assert recording.figures(case) == {
        ("reno", "retrans"): 5.0,
        ("reno", "exit_cwnd"): 40.0,
        ("reno", "reductions"): 5.0,
        ("reno", "period"): pytest.approx(10.0),
        ("reno", "cwnd"): 30.0,
        ("reno", "srtt_ms"): 50.0,
        ("reno", "goodput"): pytest.approx(8.0, rel=1e-3),
    }


def test_flows_of_one_algorithm_count_together(tmp_path: Path) -> None:
    recorded = folder(tmp_path)
    text = (recorded / "samples.csv").read_text(encoding="utf-8")
    second = text.removeprefix(HEADER).replace(",0,40,", ",1,40,").replace(",0,30,", ",1,30,")
    (recorded / "samples.csv").write_text(text + second, encoding="utf-8")
    case = Case("b_reno_ten", 33, 60, (Flow("reno"), Flow("reno")))
    figures = Recording.read(recorded).figures(case)
    assert figures["reno", "goodput"] == pytest.approx(16.0, rel=1e-3)
    assert figures["reno", "cwnd"] == 30
    # The kernel counts reductions itself.
    assert figures["reno", "reductions"] == 13


def test_repeats_widen_a_band_only_where_they_differ_more() -> None:
    case = next(first_cases())
    key = ("reno", "goodput")
    kernel, ours = {key: 10.0}, {key: 10.3}
    repeats = {(case.name, *key): 0.1}
    assert [verdict.within for verdict in judge(case, kernel, ours, {})] == [False]
    assert [verdict.within for verdict in judge(case, kernel, ours, repeats)] == [False]
    (verdict,) = judge(case, kernel, ours, {(case.name, *key): 0.4})
    assert verdict.within
    assert verdict.repeats
    # A measure that our run lacks is outside.
    for lacking in ({}, {key: math.nan}):
        assert [verdict.within for verdict in judge(case, kernel, lacking, repeats)] == [False]


def test_a_case_is_one_for_programs_and_one_for_the_simulator() -> None:
    case = Case("b_reno_idle", 416, 30, (Flow("reno", writes=Writes(1_000_000, 3)),), drops=(10,))
    described = case.for_applications()
    assert described["flows"][0]["writes"] == {"size_bytes": 1_000_000, "every_s": 3}
    # In emulation, the handshake's ACK counts as a packet, too.
    for scenario, dropped in ((case.scenario(), 11), (case.emulated(1), 12)):
        (link,) = scenario["topology"]["graph"]["links"]
        assert link["loss"] == {"packets": [dropped]}
        assert link["rate"] == "50 Mbps"
    assert case.scenario()["flows"][0]["traffic"]["message"] == "1000000 B"
    # The flow writes a megabyte every three seconds.
    assert case.scenario()["flows"][0]["traffic"]["rate"] == f"{8e6 / 3} bps"


def test_names_of_cases_are_unique_and_have_a_kind() -> None:
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)
    ends = [end for some in LATER.values() for end in some]
    assert all(name in FIRST or name.endswith(tuple(ends)) for name in names)


def test_late_recordings_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = folder(tmp_path, late_share=0.02)

    def record_once(case: Case, to: Path, run: int) -> None:
        for file in ("recording.json", "samples.csv"):
            shutil.copy(source / file, to)

    monkeypatch.setattr(record, "record_once", record_once)
    monkeypatch.setattr(record, "RECORDINGS", tmp_path / "out")
    record.record(("s_reno_025",), 1)
    assert not list((tmp_path / "out").rglob("recording.json"))
    assert list((tmp_path / "out").rglob("late.json"))


def test_a_machine_without_rights_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise EmulationError("cannot make a TUN device")

    monkeypatch.setattr(record, "emulate", refuse)
    monkeypatch.setattr(record, "RECORDINGS", tmp_path / "out")
    assert record.main(["s_reno_025"]) == 2
    assert "cannot make a TUN device" in capsys.readouterr().err
