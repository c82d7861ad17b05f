"""Kills at any moment: no finished result is lost, and no unfinished one looks finished.

Ctrl-C, SIGTERM, SIGKILL or a full disk ends runs, studies and reports; the next call cleans up.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import SMALL

import longhaul

LONGHAUL = str(Path(sys.executable).with_name("longhaul"))
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
TIMES = 50


def _full_disk(most: int) -> Callable[[], None]:
    """Return a function that limits files to `most` bytes, as a full disk would."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return limit


def _killed(
    folder: Path, words: list[str], number: int | None, moment_s: float, most: int = 0
) -> tuple[int, str]:
    """Call `longhaul` with the arguments `words`, end it early, and return exit code and message.

    `longhaul` gets the signal `number` after `moment_s`. Without a signal, its files are limited to
    `most` bytes.
    """
    process = subprocess.Popen(
        [LONGHAUL, *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=None if number else _full_disk(most),
        env={**os.environ, "MPLCONFIGDIR": str(folder.parent / "mpl")},
        start_new_session=True,
    )
    if number:
        _wait_for_handlers(process)
        time.sleep(moment_s)
        process.send_signal(number)
    _, error = process.communicate(timeout=120)
    if number != signal.SIGKILL:
        assert process.returncode in (0, 1), (process.returncode, error)
        assert "Traceback" not in error
        assert "None" not in error
    return process.returncode, error


def _wait_for_handlers(process: "subprocess.Popen[str]") -> None:
    """Wait until `longhaul` handles SIGTERM; earlier, the signal would just end Python."""
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        caught = int(status.split("SigCgt:")[1].split()[0], 16)
        if caught >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.005)


def _moments(seed: int, longest_s: float) -> Iterator[tuple[int | None, float, int]]:
    """Yield random ends of a run: signal (None for a full disk), time (s), disk limit (bytes)."""
    draw = random.Random(seed)
    for index in range(TIMES):
        number = (*SIGNALS, None)[index % 4]
        yield number, draw.uniform(0.0, longest_s), draw.randrange(0, 60_000)


def _typical_s(folder: Path, words: list[str]) -> float:
    began = time.monotonic()
    done = subprocess.run([LONGHAUL, *words], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return time.monotonic() - began


@pytest.mark.long
def test_a_run_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "small.toml").write_text(SMALL.replace("10 s", "40 s", 1))
    words = ["run", "small.toml", "--out", "r1", "--overwrite"]
    typical_s = _typical_s(folder, words)
    reference = longhaul.Results(folder / "r1").flows
    for number, moment_s, most in _moments(1, 1.1 * typical_s):
        _killed(folder, words, number, moment_s, most)
        # A complete run is there: the first one, or a later one that finished.
        run = longhaul.Results(folder / "r1")
        assert not run.meta["stopped"]
        assert run.flows.equals(reference)
        stopped = folder / "r1.stopped"
        if stopped.exists():
            assert longhaul.Results(stopped).stopped
            shutil.rmtree(stopped)
    assert _typical_s(folder, words) > 0
    assert {path.name for path in folder.iterdir()} == {"small.toml", "r1"}


@pytest.mark.long
def test_a_report_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    longhaul.run(SMALL, out=folder / "r1")
    words = ["report", "r1", "--out", "page.html", "--overwrite"]
    typical_s = _typical_s(folder, words)
    reference = (folder / "page.html").read_bytes()
    for number, moment_s, most in _moments(2, 1.1 * typical_s):
        _killed(folder, words, number, moment_s, most)
        assert (folder / "page.html").read_bytes() == reference
    _typical_s(folder, words)
    assert {path.name for path in folder.iterdir()} == {"r1", "page.html"}


@pytest.mark.long
def test_a_study_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    folder = tmp_path / "studies"
    folder.mkdir()
    # The experiment has four runs of one or two seconds.
    words = ["study", "run", "hstcp-2003", "-e", "EXP-7.2", "--replications", "1", "-q"]
    words += ["--workers", "1", "--out", "study"]
    typical_s = _typical_s(folder, words)
    whole = _finished(folder)
    assert whole
    shutil.rmtree(folder / "study")
    seen: dict[str, bytes] = {}
    for number, moment_s, most in _moments(3, min(typical_s, 8.0)):
        _killed(folder, words, number, moment_s, most)
        now = _finished(folder)
        # Finished runs do not change, except for their wall times, which `_finished` leaves out.
        assert seen.keys() <= now.keys()
        for name, content in now.items():
            assert content == whole[name]
        seen = now
        if len(seen) == len(whole):
            shutil.rmtree(folder / "study")
            seen = {}
    _typical_s(folder, words)
    assert _finished(folder) == whole
    assert not list(folder.rglob("*unfinished*"))
    assert not list((folder / "study" / "store" / "under-way").iterdir())


def _finished(folder: Path) -> dict[str, bytes]:
    """Return the files of finished runs of a study, without facts that depend on the machine."""
    runs = {}
    for file in (folder / "study").rglob("store/results-*/*/*.json"):
        kept = json.loads(file.read_bytes())
        kept["run"].pop("wall_s")
        runs[file.name] = json.dumps(kept).encode()
    return runs
