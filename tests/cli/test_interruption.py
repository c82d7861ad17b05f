"""Ctrl-C, SIGTERM and limits end any run soon, and keep its records."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import SMALL, CommandLine

import longhaul

LONGHAUL = str(Path(sys.executable).with_name("longhaul"))
LONG = SMALL.replace("10 s", "100000 s", 1)
# A sample every hundred picoseconds leaves no time for anything else.
DENSE = (
    SMALL.replace("100 ms", "100 ps")
    .replace("10 s", "1 ms", 1)
    .replace('from = "2 s"', 'from = "0 s"')
    .replace('{ uniform = ["0 s", "1 s"] }', '"0 s"')
)


def _interrupted(folder: Path, scenario: str, number: int, *words: str) -> tuple[int, str, float]:
    """Run a scenario, send it a signal, and return exit code, message and duration in seconds."""
    (folder / "long.toml").write_text(scenario)
    command = [LONGHAUL, "run", "long.toml", "--out", "r1", "--quiet", *words]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    while not any(path.name.startswith("r1.partial") for path in folder.iterdir()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(number)
    sent = time.monotonic()
    _, error = process.communicate(timeout=60)
    return process.returncode, error, time.monotonic() - sent


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("scenario", [LONG, DENSE], ids=["long", "dense"])
def test_an_interrupted_run_is_kept_as_one_that_says_how_far_it_came(
    scenario: str, number: int, tmp_path: Path
) -> None:
    code, error, _ = _interrupted(tmp_path, scenario, number)
    assert code == 1
    assert "Traceback" not in error
    assert "by an interrupt; the recorded part is in r1" in error
    run = longhaul.Results(tmp_path / "r1")
    assert 0 < run.meta["simulated_s"] < run.meta["duration_s"]
    assert run.stopped in run.warnings
    assert run.series["t_s"].max() == pytest.approx(run.meta["simulated_s"], rel=0.1)
    assert {path.name for path in tmp_path.iterdir()} == {"long.toml", "r1"}


IN_A_DESTRUCTOR = """
import os, sys, threading, time
from longhaul.cli import interrupts

start = threading.Timer.start

def expire_at_once(timer):
    threading.Timer.start = start
    timer.function(*timer.args)

if sys.argv[2] == "busy":
    threading.Timer.start = expire_at_once

class Interrupted:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        time.sleep(1)

interrupts.at_work()
try:
    Interrupted()
    time.sleep(60)
except KeyboardInterrupt as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, "KeyboardInterrupt"), (signal.SIGTERM, "Terminated")]
)
@pytest.mark.parametrize("machine", ["idle", "busy"])
def test_a_signal_in_a_destructor_is_not_ignored(number: int, error: str, machine: str) -> None:
    """Check that an interrupt is repeated if Python ignores its exception, as in destructors.

    On a busy machine, the repeated signal arrives before the call that repeats it has ended.
    """
    words = [sys.executable, "-c", IN_A_DESTRUCTOR, str(int(number)), machine]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True)
    assert (done.stdout.strip(), done.stderr) == (error, "")


def test_a_stopped_run_does_not_replace_a_finished_one(
    tmp_path: Path, small: Path, cli: CommandLine
) -> None:
    assert cli("run", small, "--out", "r1", "--quiet").returncode == 0
    before = (tmp_path / "r1" / "run.json").read_bytes()
    code, error, _ = _interrupted(tmp_path, LONG, signal.SIGINT, "--overwrite")
    assert (code, "r1.stopped" in error) == (1, True)
    assert (tmp_path / "r1" / "run.json").read_bytes() == before
    assert longhaul.Results(tmp_path / "r1.stopped").meta["stopped"]


def test_a_run_ends_at_its_limit(tmp_path: Path, cli: CommandLine) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    result = cli("run", "long.toml", "--out", "r1", "--limit", "300 ms")
    assert result.returncode == 0
    assert "was stopped at" in result.stderr
    run = longhaul.Results(tmp_path / "r1")
    assert "limit" in run.meta["stopped_by"]
    assert run.meta["machine"]["wall_s"] < 30
    refused = cli("run", "long.toml", "--out", "r2", "--limit", "300")
    assert (refused.returncode, "limit" in refused.stderr) == (2, True)


def test_what_progress_raises_stops_a_run_and_is_raised(tmp_path: Path) -> None:
    def stop(simulated_s: float, packets: int) -> None:
        if packets:
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        longhaul.run(LONG, out=tmp_path / "r1", progress=stop)
    assert longhaul.Results(tmp_path / "r1").meta["stopped_by"] == "ValueError"


def test_what_a_killed_run_leaves_goes_with_the_next(
    tmp_path: Path, small: Path, cli: CommandLine
) -> None:
    code, _, _ = _interrupted(tmp_path, LONG, signal.SIGKILL)
    assert code == -signal.SIGKILL
    (left,) = tmp_path.glob("r1.partial-*")
    with pytest.raises(longhaul.ResultsError):
        longhaul.Results(tmp_path / "r1")
    assert cli("run", small, "--out", "r1", "--quiet").returncode == 0
    assert not left.exists()
    assert not longhaul.Results(tmp_path / "r1").meta["stopped"]


def test_two_runs_of_one_name_do_not_take_each_other_for_left_over(
    tmp_path: Path, small: Path, cli: CommandLine
) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    command = [LONGHAUL, "run", "long.toml", "--out", "r1", "--quiet"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    while not any(tmp_path.glob("r1.partial-*/flows.parquet")) and process.poll() is None:
        if any(tmp_path.glob("r1.partial-*/series.parquet")):
            break
        time.sleep(0.02)
    (under_way,) = tmp_path.glob("r1.partial-*")
    assert cli("run", small, "--out", "r1", "--quiet").returncode == 0
    assert under_way.exists()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert not longhaul.Results(tmp_path / "r1").meta["stopped"]


def test_output_that_is_too_much_is_announced_or_refused(
    tmp_path: Path, small: Path, cli: CommandLine
) -> None:
    refused = cli("run", small, "--set", "measure.every=1 ps")
    assert refused.returncode == 2
    assert "GB" in refused.stderr
    assert not (tmp_path / "runs" / "small").exists()
    announced = cli("check", small, "--set", "measure.every=1 us")
    assert (announced.returncode, "GB" in announced.stderr) == (0, True)
    both_ways = ("--set", 'measure.capture=["bottleneck", "bottleneck-reverse"]')
    # 100 bytes of each packet of 1500 bytes at 20 Mbit/s, each way.
    announced = cli("check", small, *both_ways, "--set", "duration=24000 s")
    assert "measure.capture of bottleneck, bottleneck-reverse takes up to 8 GB" in announced.stderr
    assert "capture" not in cli("check", small, *both_ways).stderr
    # Datagrams of 1 Mbit/s, and a transfer, do not fill a fast link.
    rate = "topology.dumbbell.bottleneck.rate=10 Tbps"
    little = tmp_path / "little.toml"
    little.write_text(
        'duration = "500 s"\nmeasure = { capture = ["bottleneck"] }\n'
        '[topology.dumbbell.bottleneck]\nrate = "10 Tbps"\ndelay = "10 ms"\n'
        '[[flows]]\nprotocol = "udp"\nrate = "1 Mbps"\n'
        '[[flows]]\ntransfer = "1 MB"\n'
    )
    assert cli("check", little).stderr == ""
    assert longhaul.load(little).expected_bytes < 10e6
    refused = cli("run", small, *both_ways, "--set", "duration=99999 s", "--set", rate)
    assert refused.returncode == 2
    assert "measure.capture" in refused.stderr


@pytest.mark.parametrize("where", ["extends", "changes", "python"])
def test_files_without_end_are_refused(where: str, tmp_path: Path, cli: CommandLine) -> None:
    text = {
        "extends": 'extends = "/dev/zero"\n' + SMALL,
        "changes": SMALL.replace('delay = "10 ms"', 'delay = "10 ms"\nchanges = "/dev/zero"'),
        "python": SMALL.replace('{ kind = "hstcp" }', '{ python = "/dev/zero:Cc" }'),
    }[where]
    (tmp_path / "endless.toml").write_text(text)
    command = [LONGHAUL, "check", "endless.toml"]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 2, result.stderr
    assert "/dev/zero" in result.stderr


def _peak_kb(folder: Path, *words: str) -> int:
    """Return the peak memory of a command in kB."""
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True,"
        " stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL);"
        " print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", program, LONGHAUL, *words]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return int(result.stdout)


def test_the_summary_needs_no_memory_for_the_samples(tmp_path: Path) -> None:
    scenario = SMALL.replace("100 ms", "20 us").replace("count = 2", "count = 50")
    scenario = scenario.replace("10 s", "1.5 s", 1).replace('from = "2 s"', 'from = "1 s"')
    (tmp_path / "many.toml").write_text(scenario)
    quiet = _peak_kb(tmp_path, "run", "many.toml", "--out", "r1", "--quiet")
    printed = _peak_kb(tmp_path, "run", "many.toml", "--out", "r2")
    rows = longhaul.Results(tmp_path / "r2").tables["series"]
    assert rows > 2_500_000
    assert printed < 2 * quiet


def _limit_files() -> None:
    """Limit files to a few kilobytes, as a full disk would."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


@pytest.mark.parametrize(
    "words",
    [
        ("report", "r1", "--out", "page.html"),
        ("plot", "r1", "cwnd"),
        ("run", "small.toml", "--out", "r2"),
    ],
    ids=lambda words: words[0],
)
def test_a_full_disk_is_named_and_leaves_nothing(
    words: tuple[str, ...], tmp_path: Path, small: Path, cli: CommandLine
) -> None:
    assert cli("run", small, "--out", "r1", "--quiet").returncode == 0
    before = {path.name for path in tmp_path.iterdir()}
    result = subprocess.run(
        [LONGHAUL, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_limit_files,
        env={**os.environ, "MPLCONFIGDIR": str(tmp_path)},
    )
    assert result.returncode == 1, result.stderr
    assert "error: cannot write" in result.stderr
    assert "None" not in result.stderr
    assert {path.name for path in tmp_path.iterdir() if path.suffix != ".json"} == before
