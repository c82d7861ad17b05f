"""Campaigns survive killed processes, full disks and lost clusters; the tests kill real processes.

Each run writes a line to a log when it is measured, which reveals runs that are done twice.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

LONGHAUL = Path(sys.executable).with_name("longhaul")

CAMPAIGN = """
title        = "Survival"
replications = {replications}
retries      = {retries}

[responses]
goodput = "goodput_bps"
mark    = {{ python = "mark.py:mark" }}

[factors]
rate = {{ path = "topology.dumbbell.bottleneck.rate", levels = ["2 Mbps", "3 Mbps", "4 Mbps"] }}
kind = {{ path = "flows.0.congestion.kind", levels = ["reno", "cubic"] }}

[scenario]
duration = "1 s"

[scenario.topology.dumbbell.bottleneck]
delay = "5 ms"
queue = {{ kind = "droptail", limit = "1 BDP" }}

[[scenario.flows]]
label = "flow"
"""

MARK = """
import os, time
from pathlib import Path

def mark(run):
    time.sleep({pause})
    rate = run.scenario["topology"]["dumbbell"]["bottleneck"]["rate"]
    kind = run.scenario["flows"][0]["congestion"]["kind"]
    name = f"{{rate}} {{kind}} {{run.meta['replication']}}"
    {harm}
    with Path({log!r}).open("a") as log:
        log.write(name + chr(10))
    return 1.0
"""


class Place:
    """A campaign in its own directory."""

    def __init__(
        self, path: Path, *, replications: int = 2, pause: float = 0.3, harm: str = "pass",
        retries: int = 0,
    ) -> None:  # fmt: skip
        self.path = path
        self.runs = 6 * replications
        text = CAMPAIGN.format(replications=replications, retries=retries)
        (path / "c.toml").write_text(text)
        mark = MARK.format(pause=pause, log=str(path / "log"), harm=harm)
        (path / "mark.py").write_text(mark)

    def start(self, *words: str, **more: Any) -> "subprocess.Popen[str]":  # noqa: ANN401
        """Start the command `campaign` with these words in the background."""
        return subprocess.Popen(
            [LONGHAUL, "campaign", words[0], "c.toml", *words[1:]],
            cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more,
        )  # fmt: skip

    def call(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run the command `campaign` with these words to its end."""
        with self.start(*words) as process:
            out, error = process.communicate(timeout=120)
        return subprocess.CompletedProcess(words, process.returncode, out, error)

    def status(self) -> dict[str, Any]:
        """Return the output of `campaign status`."""
        found: dict[str, Any] = json.loads(self.call("status", "--json").stdout)
        return found

    @property
    def log(self) -> list[str]:
        """Return the names of the measured runs, in the order in which they were measured."""
        file = self.path / "log"
        return file.read_text().splitlines() if file.exists() else []

    @property
    def kept(self) -> dict[str, int]:
        """Return the finished runs in the store, with the time (ns) at which each was written."""
        files = self.path.glob("campaigns/c/store/results-*/*/*.json")
        return {file.name: file.stat().st_mtime_ns for file in files}

    def wait_for(self, finished: int, process: "subprocess.Popen[str]") -> None:
        """Wait until `finished` runs are stored."""
        until(lambda: len(self.kept) >= finished, process)

    def is_whole(self) -> bool:
        """Return true if the campaign's table has all runs."""
        import polars as pl

        frame = pl.read_parquet(self.path / "campaigns/c/results.parquet")
        return len(frame) == frame["scenario_hash"].n_unique() == self.runs


def until(
    fact: Callable[[], bool], *processes: "subprocess.Popen[Any]", wait_s: float = 60
) -> None:
    end = time.monotonic() + wait_s
    while not fact():
        assert time.monotonic() < end, "it did not happen"
        for process in processes:
            assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def children(process: int) -> list[int]:
    return [
        int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


def workers(process: int) -> list[int]:
    """Return the identifiers of a process's workers, without Python's resource tracker."""
    found = []
    for child in children(process):
        command = Path(f"/proc/{child}/cmdline").read_bytes()
        if b"spawn_main" in command and b"resource_tracker" not in command:
            found.append(child)
    return found


def test_a_killed_driver_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.start("run", "--workers", "2") as driver:
        place.wait_for(3, driver)
        driver.kill()
        driver.communicate()
    before = place.kept
    assert 3 <= len(before) < place.runs
    status = place.status()
    assert status["done"] == len(before)
    assert status["running"] == 0
    done = place.call("resume", "--workers", "2")
    assert done.returncode == 0, done.stderr
    after = place.kept
    assert len(after) == place.runs
    assert {name: after[name] for name in before} == before
    # At most the two runs in progress are measured again.
    assert len(place.log) <= place.runs + 2
    assert len(set(place.log)) == place.runs
    assert place.is_whole()


def test_a_killed_worker_costs_one_attempt(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.start("run", "--workers", "2") as driver:
        place.wait_for(2, driver)
        os.kill(workers(driver.pid)[0], signal.SIGKILL)
        _, error = driver.communicate(timeout=60)
    assert driver.returncode == 0, error
    assert place.is_whole()
    # At most the killed worker's run is measured again.
    assert len(place.log) <= place.runs + 1
    assert len(set(place.log)) == place.runs


@pytest.mark.long
def test_a_run_that_kills_its_worker_each_time_is_reported_alone(tmp_path: Path) -> None:
    harm = 'os.kill(os.getpid(), 9) if name.startswith("3 Mbps cubic 1") else None'
    place = Place(tmp_path, pause=0.0, harm=harm)
    done = place.call("run", "--workers", "2")
    assert done.returncode == 1
    assert "ended by signal 9" in done.stderr
    status = place.status()
    assert (status["done"], status["failed"]) == (place.runs - 1, 1)
    [(message, [name])] = status["failures"].items()
    assert "signal 9" in message
    assert "3 Mbps" in name
    assert "cubic" in name


@pytest.mark.long
def test_a_run_that_fails_each_time_is_retried_reported_and_tried_again(tmp_path: Path) -> None:
    harm = (
        'Path("attempts").open("a").write("x") and Path("sound").exists() or 1 / 0 '
        'if name.startswith("2 Mbps reno 0") else None'
    )
    place = Place(tmp_path, pause=0.0, harm=harm, retries=2)
    done = place.call("run", "--workers", "1")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert len((tmp_path / "attempts").read_text()) == 3
    assert place.status()["failed"] == 1
    # The table has the runs that did not fail.
    import polars as pl

    assert len(pl.read_parquet(tmp_path / "campaigns/c/results.parquet")) == place.runs - 1
    (tmp_path / "sound").touch()
    assert place.call("resume").returncode == 0
    assert place.status()["failed"] == 0
    assert place.is_whole()


def test_two_drivers_share_the_work(tmp_path: Path) -> None:
    place = Place(tmp_path, pause=0.2)
    with place.start("run", "--workers", "2") as one, place.start("run", "--workers", "2") as other:
        ends = [process.communicate(timeout=120) for process in (one, other)]
        assert [one.returncode, other.returncode] == [0, 0], ends
    assert sorted(place.log) == sorted(set(place.log))
    assert len(place.log) == place.runs
    assert place.is_whole()


@pytest.mark.long
def test_a_driver_takes_over_what_a_killed_one_had(tmp_path: Path) -> None:
    place = Place(tmp_path, pause=1.0, replications=4)
    with place.start("run", "--workers", "2") as one:
        place.wait_for(1, one)
        with place.start("run", "--workers", "1") as other:
            until(lambda: len(list(tmp_path.glob("campaigns/c/store/sessions/*"))) == 2, one, other)
            one.kill()
            one.communicate()
            _, error = other.communicate(timeout=120)
            assert other.returncode == 0, error
    assert place.is_whole()
    assert place.status()["running"] == 0


def test_a_limit_of_file_size_stops_the_campaign_and_it_resumes(tmp_path: Path) -> None:
    place = Place(tmp_path, pause=0.0)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))

    with place.start("run", "--workers", "2", preexec_fn=limit) as driver:
        _, error = driver.communicate(timeout=60)
    assert driver.returncode == 1
    assert "finished runs are kept" in error
    assert place.kept == {}
    assert place.call("resume").returncode == 0
    assert place.is_whole()


@contextmanager
def full_disk(path: Path) -> Iterator[Path]:
    """Mount a file system of 400 KiB at `path`, which a campaign can fill."""
    path.mkdir(parents=True)
    options = ["-t", "tmpfs", "-o", "size=400k"]
    mounted = subprocess.run(
        ["mount", *options, "tmpfs", path], check=False, capture_output=True
    ).returncode
    if mounted != 0:
        pytest.skip("mounting a file system takes privileges")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=True)


@pytest.mark.long
def test_a_full_disk_stops_the_campaign_and_it_resumes(tmp_path: Path) -> None:
    place = Place(tmp_path, pause=0.0)
    with full_disk(tmp_path / "campaigns" / "c") as disk:
        ballast = disk / "ballast"
        # The ballast leaves room for some of the runs only.
        ballast.write_bytes(bytes(336 * 1024))
        done = place.call("run", "--workers", "1")
        assert done.returncode == 1
        assert "space left" in done.stderr
        before = place.kept
        assert 1 <= len(before) < place.runs
        assert all(json.loads(file.read_bytes()) for file in disk.glob("store/results-*/*/*.json"))
        ballast.unlink()
        done = place.call("resume", "--workers", "1")
        assert done.returncode == 0, done.stderr
        assert {name: place.kept[name] for name in before} == before
        assert place.is_whole()


@pytest.mark.long
def test_shards_share_runs_though_one_is_killed(tmp_path: Path) -> None:
    share_out(tmp_path, shards=3, replications=2)


@pytest.mark.long
def test_sixteen_shards_share_runs_though_one_is_killed(tmp_path: Path) -> None:
    share_out(tmp_path, shards=16, replications=16)


def share_out(folder: Path, *, shards: int, replications: int) -> None:
    place = Place(folder, replications=replications, pause=0.4)
    tasks = [place.start("work", "--shard", f"{i + 1}/{shards}") for i in range(shards)]
    try:
        until(lambda: len(place.kept) >= shards // 2)
        tasks[0].kill()
        tasks[0].communicate()
        for task in tasks[1:]:
            _, error = task.communicate(timeout=240)
            assert task.returncode == 0, error
    finally:
        for task in tasks:
            task.kill()
    assert len(place.kept) == place.runs
    # The killed process may have measured a run without storing it.
    assert len(place.log) - len(set(place.log)) <= 1
    assert place.call("report").returncode == 0
    assert place.is_whole()


class Cluster:
    """A Dask scheduler and its workers, each a process."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.folder = folder
        self.scheduler = self._start(
            "scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard",
            "--scheduler-file", str(self.file),
        )  # fmt: skip
        until(self.file.exists, self.scheduler)
        self.address = json.loads(self.file.read_text())["address"]
        self.workers = [self._worker() for _ in range(2)]

    def _worker(self) -> "subprocess.Popen[bytes]":
        return self._start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
            "--local-directory", str(self.folder), "--death-timeout", "5",
        )  # fmt: skip

    def _start(self, *words: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
        return subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def close(self) -> None:
        """Kill the workers and the scheduler."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
        self.file.unlink(missing_ok=True)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Start a scheduler and two workers."""
    pytest.importorskip("distributed")
    one = Cluster(folder)
    try:
        yield one
    finally:
        one.close()


@pytest.mark.long
def test_a_killed_scheduler_stops_the_campaign_and_another_resumes_it(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with cluster(tmp_path) as dask, place.start("run", "--scheduler", dask.address) as driver:
        place.wait_for(2, driver)
        dask.scheduler.kill()
        _, error = driver.communicate(timeout=90)
        assert driver.returncode == 1
        assert "finished runs are kept" in error
    before = place.kept
    assert 2 <= len(before) < place.runs
    with cluster(tmp_path) as dask:
        done = place.call("resume", "--scheduler", dask.address)
    assert done.returncode == 0, done.stderr
    assert {name: place.kept[name] for name in before} == before
    assert place.is_whole()


@pytest.mark.long
def test_a_killed_worker_of_a_cluster_is_replaced_by_the_others(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with cluster(tmp_path) as dask, place.start("run", "--scheduler", dask.address) as driver:
        place.wait_for(2, driver)
        dask.workers[0].kill()
        _, error = driver.communicate(timeout=90)
    assert driver.returncode == 0, error
    assert place.is_whole()


@pytest.mark.long
def test_a_campaign_on_a_cluster_gives_the_same_table_as_here(tmp_path: Path) -> None:
    import polars as pl

    place = Place(tmp_path, pause=0.0)
    assert place.call("run", "--out", "here").returncode == 0
    with cluster(tmp_path) as dask:
        done = place.call("run", "--out", "there", "--scheduler", dask.address)
        assert done.returncode == 0, done.stderr
    here, there = (
        pl.read_parquet(tmp_path / name / "results.parquet").drop("wall_s")
        for name in ("here", "there")
    )
    assert here.equals(there)


@pytest.mark.long
def test_a_scheduler_that_does_not_answer_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    place = Place(tmp_path)
    done = place.call("run", "--scheduler", "tcp://127.0.0.1:9")
    assert done.returncode == 2
    assert "127.0.0.1:9" in done.stderr
