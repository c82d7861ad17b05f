"""Fuzzing of scenarios: `make fuzz`, or `python -m validation.robustness.fuzz`.

`mutations` are shipped scenarios with mistakes. Each is checked and, if valid, simulated briefly;
every tenth is run by the command line, with a comparison, a report and plots. The only correct
outcomes are success and an error message. `legal` and `quic` (`stacks.py`) are random scenarios
without mistakes, whose results have to satisfy the invariants of `invariants.py`; every twentieth
is run twice and must give the same bytes. Each batch of scenarios has its own process with limits
of memory and file size. A scenario that takes too long is interrupted, and must then end within
five seconds; on a busy machine times are longer.
"""

import argparse
import os
import queue
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import longhaul
from validation.robustness import legal, stacks
from validation.robustness.mutations import SCENARIOS, mutated

BATCH = 50
# One of this number of mutations is run by the command line, all others by Python.
COMMAND_LINE_EVERY = 10
MEMORY_BYTES = 12 << 30
FILE_BYTES = 1 << 30
# Time after which a scenario is interrupted, and time in which it must then end.
PATIENCE_S = 60.0
GRACE_S = 5.0
# Wall-clock limit for the simulation of a mutation.
LIMIT = "200 ms"
# Wall-clock limit for scenarios without mistakes, which are small and rarely reach this limit.
LEGAL_LIMIT = "20 s"
# One of this number of scenarios without mistakes is run twice.
TWICE_EVERY = 20
# Words of messages on early ends of runs that are not errors.
CAUSES = ("interrupt", "cannot write", "memory", "limit was reached")
# Kinds of scenarios, with the default numbers of scenarios.
COUNTS = {"mutations": 10_000, "legal": 2_000, "quic": 300}
# Kinds without mistakes.
SOUND = {"legal": legal, "quic": stacks}

LONGHAUL = str(Path(sys.executable).with_name("longhaul"))


def shared(seconds: float) -> float:
    """Return the time limit `seconds`, extended in proportion to the load of this machine."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


Finding = tuple[int, str]
"""A scenario with a wrong outcome: its seed, and what is wrong."""


def fuzz(kind: str, first: int, count: int, workers: int) -> int:
    """Try `count` scenarios of a kind, print the wrong outcomes, and return their number.

    `first` is the first seed, and `workers` the number of simultaneous processes.
    """
    starts = range(first, first + count, BATCH)
    ranges = [(start, min(start + BATCH, first + count)) for start in starts]
    found = 0
    with ThreadPoolExecutor(workers) as pool:
        for done, batch in enumerate(pool.map(lambda ends: list(_batch(kind, *ends)), ranges), 1):
            found += len(batch)
            for seed, what in batch:
                print(f"{kind} {seed}: {what}", flush=True)
            if done % 20 == 0:
                print(f"{done * BATCH}/{count}, {found} wrong outcomes", flush=True)
    return found


def _batch(kind: str, first: int, end: int) -> Iterator[Finding]:
    """Try the seeds from `first` to `end` - 1 in a process, and yield the wrong outcomes.

    `kind` is the kind of scenario. If a scenario ends the process, another process continues with
    the next seed.
    """
    while first < end:
        words = [kind, "--worker", str(first), str(end)]
        process = subprocess.Popen(
            [sys.executable, "-m", "validation.robustness.fuzz", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "MPLBACKEND": "agg", "POLARS_MAX_THREADS": "1"},
        )
        lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_read, args=(process, lines), daemon=True).start()
        at, hung = first, False
        while (line := _next(process, lines)) is not None:
            if not line:
                hung = True
                process.kill()
                break
            what, _, rest = line.partition(" ")
            if what == "begin":
                at = int(rest)
            elif what == "finding":
                yield at, rest
        process.wait()
        error = process.stderr.read() if process.stderr else ""
        if hung:
            yield at, f"does not end within {GRACE_S:g} s of an interrupt"
        elif process.returncode:
            last = error.strip().splitlines()[-1:] or [""]
            yield at, f"ends the process with {process.returncode}: {last[0]}"
        else:
            return
        first = at + 1


def _read(process: "subprocess.Popen[str]", lines: "queue.Queue[str | None]") -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line.rstrip("\n"))
    lines.put(None)


def _next(process: "subprocess.Popen[str]", lines: "queue.Queue[str | None]") -> str | None:
    """Return the next line that a worker prints; None after its end.

    If the worker prints nothing in time, it is interrupted. If it then prints nothing either, the
    result is an empty string.
    """
    try:
        return lines.get(timeout=shared(PATIENCE_S))
    except queue.Empty:
        process.send_signal(signal.SIGINT)
    try:
        return lines.get(timeout=shared(GRACE_S))
    except queue.Empty:
        return ""


def _work(kind: str, first: int, end: int) -> None:
    """Try the seeds from `first` to `end` - 1 in this process, with limited memory and file size.

    Print `begin SEED` for each seed, and `finding TEXT` for each wrong outcome.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    for seed in range(first, end):
        print(f"begin {seed}", flush=True)
        scratch = Path(tempfile.mkdtemp(prefix="longhaul-fuzz-"))
        try:
            if kind in SOUND:
                _legal(kind, seed, scratch)
            elif seed % COMMAND_LINE_EVERY:
                _through_python(seed, scratch)
            else:
                _through_the_command_line(seed, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _found(what: str) -> None:
    print(f"finding {what}".replace("\n", " | "), flush=True)


def _through_python(seed: int, scratch: Path) -> None:
    """Check the mutated scenario of `seed`, and simulate it for a moment if it is valid.

    The scenario and its results are written to the directory `scratch`.
    """
    file = _written(seed, scratch)
    try:
        run = longhaul.run(file, out=scratch / "run", limit=LIMIT)
        run.warnings  # noqa: B018
        if run.is_tcp:
            run.summary()
    except (longhaul.LonghaulError, KeyboardInterrupt):
        pass
    except BaseException as error:
        _found(f"{type(error).__name__}: {error}")


def _legal(kind: str, seed: int, scratch: Path) -> None:
    """Simulate the random legal scenario of a seed, and check the invariants of its results.

    `kind` is `legal` or `quic`. Files are written to the directory `scratch`.
    """
    file = scratch / "legal.json"
    file.write_text(SOUND[kind].scenario(seed), encoding="utf-8")
    try:
        run = longhaul.run(file, out=scratch / "run", limit=LEGAL_LIMIT)
        for violation in SOUND[kind].violations(run):
            _found(violation)
        if seed % TWICE_EVERY == 0 and not run.meta["stopped"]:
            again = longhaul.run(file, out=scratch / "again")
            if again.meta["sha256"] != run.meta["sha256"]:
                _found("a second run gives other bytes")
    except BaseException as error:
        _found(f"{type(error).__name__}: {error}")


def _through_the_command_line(seed: int, scratch: Path) -> None:
    """Run the mutated scenario of a seed by the command line.

    If the run succeeds, also call `compare`, `report` and `plot`. All files are written to the
    directory `scratch`, in which no unfinished file may remain.
    """
    file = _written(seed, scratch)
    if _call("run", file, "--out", "run", "--limit", LIMIT, cwd=scratch) == 0:
        _call("compare", "run", cwd=scratch)
        _call("report", "run", "--out", "page.html", cwd=scratch)
        _call("plot", "run", "--out", "plots", cwd=scratch)
    left = {path.name for path in scratch.iterdir()}
    if odd := [name for name in left if "partial" in name or "unfinished" in name]:
        _found(f"left behind: {odd}")


def _written(seed: int, scratch: Path) -> Path:
    name, text = mutated(seed)
    # Links to the folders beside the shipped scenarios, whose algorithms the scenarios name.
    for folder in SCENARIOS.iterdir():
        if folder.is_dir():
            (scratch / folder.name).symlink_to(folder)
    file = scratch / name
    file.write_text(text, encoding="utf-8")
    return file


def _call(*words: str | Path, cwd: Path) -> int:
    process = subprocess.Popen(
        [LONGHAUL, *words], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        _, error = process.communicate(timeout=shared(PATIENCE_S / 2))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            _, error = process.communicate(timeout=shared(GRACE_S))
        except subprocess.TimeoutExpired:
            process.kill()
            _found(f"{words[0]} does not end within {GRACE_S:g} s of an interrupt")
            return -1
    code = process.returncode
    if code not in (0, 1, 2):
        _found(f"{words[0]} ends with {code}: {error.strip()[-300:]}")
    elif "Traceback" in error or "panicked" in error:
        _found(f"{words[0]}: {error.strip()[-300:]}")
    elif code == 1 and not any(cause in error for cause in CAUSES):
        _found(f"{words[0]} fails without an external cause: {error.strip()[-300:]}")
    return code


def main() -> int:
    """Fuzz as the command line says; return 1 if any scenario had a wrong outcome."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=COUNTS, help="kind of scenarios")
    defaults = "10,000 mutations, 2,000 legal, 300 quic"
    parser.add_argument("--count", type=int, help=f"number of scenarios (default: {defaults})")
    parser.add_argument("--first", type=int, default=0, help="seed of the first scenario")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--worker", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        _work(options.kind, *options.worker)
        return 0
    count = options.count or COUNTS[options.kind]
    found = fuzz(options.kind, options.first, count, options.workers)
    print(f"{count} {options.kind}, {found} wrong outcomes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
