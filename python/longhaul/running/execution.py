"""Execution of a checked scenario; it writes a run directory."""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from longhaul._engine import (
    AlgorithmError,
    Interval,
    Latest,
    OutputError,
    RunError,
    Scenario,
    ScenarioError,
    TimeLimit,
    byte_count,
)
from longhaul.files.values import memory_bytes
from longhaul.results import Results
from longhaul.running.loading import Algorithms, ScenarioSource, duration_s, load

# Function that is called about ten times per second with the simulated time in seconds and the
# number of data packets so far.
Progress = Callable[[float, int], object]

# Function of each interval of a run of MesoNet, which returns measured values by name.
Measure = Callable[[Interval], Mapping[str, float]]


def run(
    scenario: ScenarioSource,
    *,
    out: str | Path | None = None,
    set: Sequence[str] = (),
    algorithms: Algorithms = (),
    progress: bool | Progress = False,
    measures: Sequence[Measure] = (),
    overwrite: bool = False,
    checkpoint_every: str | None = None,
    limit: str | None = None,
    memory: str | None = None,
    threads: int = 1,
) -> Results:
    """Simulate a scenario and return its results.

    The run directory is `out`, or a temporary directory that exists as long as the results.
    `algorithms` are classes that the scenario names. `progress` is true for a bar on the
    terminal, or a function to call. `measures` are functions of each interval of a MesoNet run;
    their values are rows of the table `measures`. With `checkpoint_every`, for example `"10 min"`,
    the same call resumes a MesoNet run that was killed; the functions in `measures` then start
    without their earlier state.

    `limit` stops the run after this wall-clock time. It also ends an endless loop in an algorithm
    in Python, but not a built-in function that does not return. `memory`, for example `"2 GB"`,
    stops the run before it uses more. The default on Linux is nine tenths of the memory that is
    available at the start. A MesoNet run uses `threads` threads; the results do not depend on their
    number.

    A run that is stopped before its end, by a limit, an interrupt, or an exception in `progress`,
    `measures` or an algorithm, keeps its records in `out`, and states the time that it reached
    (`Results.stopped`). It does not replace an older run that is complete, but is written next to
    it as `<out>.stopped`. A run with `checkpoint_every` leaves only its last checkpoint. All these
    causes raise an error, except the time limit of a run that has begun without `checkpoint_every`.
    After an error, a run without `out` leaves nothing. Neither does a run that was interrupted
    during a call of an algorithm.
    """
    started = None if limit is None else TimeLimit(duration_s(limit, "the limit"))
    loaded = load(scenario, set, algorithms, limit=started)
    return run_loaded(
        loaded,
        out=out,
        progress=progress,
        measures=measures,
        overwrite=overwrite,
        checkpoint_every=checkpoint_every,
        limit=started,
        memory=memory,
        threads=threads,
    )


def run_loaded(
    scenario: Scenario,
    *,
    out: str | Path | None,
    progress: bool | Progress = False,
    measures: Sequence[Measure] = (),
    overwrite: bool = False,
    checkpoint_every: str | None = None,
    limit: TimeLimit | None = None,
    memory: str | None = None,
    threads: int = 1,
    watch: bool = False,
) -> Results:
    """Run a checked scenario; `watch` shows its state in the terminal instead of `progress`.

    A run that was stopped by its time limit is returned without an error. The error of any other
    run that was stopped names the run directory `out`, which keeps its records.
    """
    every_s = None if checkpoint_every is None else _every(checkpoint_every, out)
    most_bytes = None if memory is None else memory_bytes(memory)
    if threads < 1:
        raise ScenarioError(f"threads: expected at least 1, found {threads}")
    latest = Latest() if watch else None
    scratch = None
    if out is None:
        scratch = Path(tempfile.mkdtemp(prefix="longhaul-"))
        out = scratch / "run"
    target = Path(out)
    try:
        _check_room(scenario, target)
        with _display(scenario, progress, latest) as advance:
            path, raised = scenario.run(
                target,
                progress=advance,
                measures=list(measures),
                overwrite=overwrite,
                checkpoint_every_s=every_s,
                limit=limit,
                memory_bytes=most_bytes,
                latest=latest,
                threads=threads,
            )
        # The path as given, unless the run was written elsewhere.
        path = target if path.name == target.name else path
        kept = "" if scratch else f"; the recorded part is in {path}"
        if isinstance(raised, AlgorithmError):
            raise AlgorithmError(f"{raised}{kept}") from raised.__cause__
        if isinstance(raised, KeyboardInterrupt | RunError):
            raise type(raised)(f"{Results(path).stopped}{kept}") from None
        if raised is not None:
            raise raised
    except BaseException:
        if scratch:
            shutil.rmtree(scratch)
        raise
    return Results(path, scratch=scratch)


def _display(
    scenario: Scenario, progress: bool | Progress, latest: Latest | None
) -> AbstractContextManager[Progress | None]:
    """Return the display of a run's progress; as a context it gives the function to call.

    With `latest`, the display is the live view; otherwise `progress` selects it.
    """
    if latest is not None:
        from longhaul.running.watch import watching

        return watching(scenario.title, scenario.duration_s, latest)
    if progress is True:
        from longhaul.running.progress import bar

        return bar(scenario.title, scenario.duration_s)
    return nullcontext(progress or None)


def _check_room(scenario: Scenario, out: Path) -> None:
    """Raise an error if there is not enough space on the disk for the output of a run."""
    place = next(path for path in (out, *out.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(place).free
    if scenario.expected_bytes > free:
        raise OutputError(
            f"the run is expected to write {byte_count(scenario.expected_bytes)}, and the disk of "
            f"{place} has {byte_count(free)} left; sample less often (measure.every) or capture "
            "fewer links (measure.capture)"
        )


def _every(checkpoint_every: str, out: str | Path | None) -> float:
    """Return the time between checkpoints in seconds; raise an error without a run directory."""
    if out is None:
        raise ScenarioError("checkpoints need a run directory: give `out`")
    return duration_s(checkpoint_every, "the time between two checkpoints")
