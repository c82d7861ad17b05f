"""Named analyses of one run, of two compared, or of several: `longhaul analyze r1 NAME`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from longhaul._engine import LonghaulError
from longhaul.analysis import steady
from longhaul.analysis.comparisons import over_replications
from longhaul.analysis.merit import harm
from longhaul.analysis.traffic import convergence, hurst, paired
from longhaul.figures.measured import of_merit
from longhaul.figures.registry import LABEL, declared
from longhaul.files.names import numbered, suggestion
from longhaul.findings.registry import ANALYSES, Text, with_ends
from longhaul.results.counts import counted

if TYPE_CHECKING:
    from longhaul.results import Results

# Upper bounds of classes of response sizes, in bytes.
CLASSES = (1420, 25_560, 100_000, inf)
# Quantiles of response times, and of sizes for growing numbers of responses.
QUANTILES = (0.1, 0.5, 0.9, 0.99, 0.999)
SIZE_QUANTILES = (0.5, 0.9, 0.99)
# Fraction of the first responses that convergence leaves out; minimum number of responses.
LEFT_OUT, LEAST = 0.4, 100
# Response times that differ by no more than this time in seconds count as equal.
EQUAL_S = 1e-3


class RunAnalysisError(LonghaulError):
    """Error: an analysis does not exist, or lacks data of a run or the run to compare with."""


Find = Callable[["Results", "Results | None"], list[Text]]
FindAll = Callable[[Sequence["Results"]], list[Text]]


@dataclass(frozen=True)
class RunAnalysis:
    """An analysis of a run: its name, its line of help, and the function that performs it."""

    name: str
    help: str
    find: Find
    of_all: FindAll | None = None
    """Analysis of several runs together; None if each run is analysed separately."""


RUN_ANALYSES: dict[str, RunAnalysis] = {}


def named(name: str, help: str) -> Callable[[Find], Find]:
    """Register the decorated function as an analysis of runs."""

    def register(find: Find) -> Find:
        RUN_ANALYSES[name] = RunAnalysis(name, help, find)
        return find

    return register


def analyse_run(name: str, run: "Results", against: "Results | None" = None) -> list[Text]:
    """Run the analysis `name` on a run.

    The analyses `harm` and `paired` compare `run` with `against`, and fail without it. All others
    ignore it.
    """
    return of_run(name).find(run, against)


def of_run(name: str) -> RunAnalysis:
    """Return the analysis of runs that has this name."""
    if name not in RUN_ANALYSES:
        if name in ANALYSES:
            raise RunAnalysisError(
                f"{name}: an analysis of campaigns and tables, which have many runs; of one run: "
                f"{', '.join(RUN_ANALYSES)}"
            )
        end = suggestion(name, RUN_ANALYSES, "longhaul analyze list")
        raise RunAnalysisError(f"unknown analysis `{name}` of a run{end}")
    return RUN_ANALYSES[name]


def _shares(runs: Sequence["Results"]) -> list[Text]:
    from longhaul.results.shares import portions

    heads = ("runs", "label", "goodput (Mbit/s)", "95 % from", "to", "share (%)", "replications")
    rows, goodputs = [], []
    for portion in portions(runs):
        mean = portion.goodput_bps
        share = 100 * portion.share.mean if portion.share.count else None
        rows.append((portion.runs, portion.label, *with_ends(mean, 1e-6), share, mean.count))
        goodputs.append(mean)
    return [Text("Who gets what", heads, rows, note=over_replications(goodputs))]


RUN_ANALYSES["shares"] = RunAnalysis(
    "shares",
    "who gets what: goodput and share of each label; for replications with intervals",
    lambda run, _: _shares([run]),
    _shares,
)


@named("steady", "warm-up, mean with interval and drift of each series")
def _steady(run: "Results", against: "Results | None") -> list[Text]:
    """Return warm-up (by MSER-5), mean after the warm-up, and drift of each series of a run.

    The warm-up is the time in the run of the first sample after it. A run should be measured after
    the longest warm-up of its series. The drift is the change of a fitted line from the end of the
    warm-up to the end of the run. A series with too few samples after its warm-up is left out.
    """
    heads = ("series", "warm-up (s)", "mean from there", "95 % from", "to", "drift, % of mean",
             "p of drift")  # fmt: skip
    rows, left_out = [], []
    for name, times, values in run.kind.time_series(run):
        cut = steady.warm_up(values)
        rest = values[cut:]
        if len(rest) < (least := 2 * steady.BATCHES):
            left_out.append(f"{name} has {len(rest)} samples after its warm-up, not {least}")
            continue
        mean, drift = steady.steady_mean(rest), steady.drift(rest)
        interval = (mean.mean, mean.low, mean.high)
        rows.append((name, float(times[cut]), *interval, drift.percent, drift.p))
    title = f"{run.name}: measured from {run.meta['measured_from_s']:g} s"
    return [Text(title, heads, rows, left_out)]


@named("merit", "figures of merit: delays, shares, convergence, starvation, synchronisation")
def _merit(run: "Results", against: "Results | None") -> list[Text]:
    return [Text(f"{run.name}: figures of merit", ("figure", "value", "what"), of_merit(run))]


@named(
    "harm",
    "performance that flows lose beside others; needs --against, the run in which they are alone",
)
def _harm(run: "Results", against: "Results | None") -> list[Text]:
    if against is None:
        raise RunAnalysisError("harm: expected --against, a run in which the flows are alone")
    alone = {row["label"]: row for row in against.summary().labels.to_dicts()}
    both = [row for row in run.summary().labels.to_dicts() if row["label"] in alone]
    if not both:
        raise RunAnalysisError(
            f"harm: no label of {run.name} is in {against.name}, which has {', '.join(alone)}"
        )
    harmed = [figure for figure in declared(LABEL) if figure.better]
    rows = []
    for row in both:
        # Figures for which more is better come first.
        for figure in sorted(harmed, key=lambda figure: (figure.better != "more", figure.name)):
            ours, other = alone[row["label"]].get(figure.name), row.get(figure.name)
            if ours is not None and other is not None and (ours or other):
                lost = harm(ours, other, more_is_better=figure.better == "more")
                rows.append((row["label"], figure.name, ours, other, lost))
    if not rows:
        raise RunAnalysisError(f"harm: {run.name} and {against.name} have no figure in common")
    heads = ("label", "figure", against.name, run.name, "harm")
    return [Text("Harm: 0 none, 1 all; below 0 it helps", tuple(numbered(heads)), rows)]


@named("responses", "response times by label and by class of size")
def _responses(run: "Results", against: "Results | None") -> list[Text]:
    parts = (f"{100 * part:g} % (s)" for part in QUANTILES)
    heads = ("label", "bytes", "began", "cut short", *parts, "mean (s)")
    rows = []
    for label, exchanges in _by_label(run):
        place = np.searchsorted(CLASSES, exchanges["response_bytes"].fill_null(nan).to_numpy())
        for number, bounds in enumerate(_class_names()):
            times = exchanges["response_s"].filter(pl.Series(place == number))
            done = times.drop_nulls()
            quantiles = [done.quantile(part, "linear") for part in QUANTILES]
            rows.append((label, bounds, len(times), times.null_count(), *quantiles, done.mean()))
    return [Text(f"{run.name}: response times", heads, rows)]


def _class_names() -> list[str]:
    *bounds, _ = CLASSES
    return [*(f"to {bound:,}" for bound in bounds), f"above {bounds[-1]:,}", "not asked for"]


@named("hurst", "long-range dependence of packets at the busiest link and of exchanges")
def _hurst(run: "Results", against: "Results | None") -> list[Text]:
    heads = ("series", "method", "from (s)", "to (s)", "Hurst parameter", "95 % from", "to")
    rows, left_out = [], []
    for name, step_s, counts in counted(run):
        refused: dict[str, str] = {}
        for method, estimate in hurst.estimators().items():
            try:
                found = estimate(counts)
            except ValueError as error:
                refused[method] = str(error)
                continue
            ends = float(found.scales[0] * step_s), float(found.scales[-1] * step_s)
            rows.append((name, method, *ends, found.value, found.low, found.high))
        left_out += _without_estimate(name, len(counts), refused)
    if not rows:
        raise RunAnalysisError(f"{run.path}: {'; '.join(left_out) or 'nothing was counted'}")
    return [Text(f"{run.name}: long-range dependence", heads, rows, left_out)]


def _without_estimate(name: str, samples: int, refused: Mapping[str, str]) -> list[str]:
    """Return lines that say why methods cannot estimate the Hurst parameter of a series.

    `refused` maps these methods to reasons. The series is called `name` and has `samples` values.
    """
    reasons: dict[str, list[str]] = {}
    for method, reason in refused.items():
        reasons.setdefault(reason, []).append(method)
    too_few = f"{name}: {samples} samples are too few or do not vary"
    return [f"{too_few} for {', '.join(by)}: {reason}" for reason, by in reasons.items()]


@named("convergence", "convergence of quantiles and mean of response sizes, in order of requests")
def _convergence(run: "Results", against: "Results | None") -> list[Text]:
    kept = f"range of the last {100 * (1 - LEFT_OUT):g} %"
    heads = ("label", "statistic", "responses", "bytes", kept, "variation (%)")
    rows, left_out = [], []
    for label, exchanges in _by_label(run):
        sizes = exchanges.sort("start_s")["response_bytes"].drop_nulls().to_numpy().astype(float)
        if len(sizes) < LEAST:
            left_out.append(f"{label} has {len(sizes)} responses, not {LEAST}")
            continue
        every = min(100, len(sizes) // 100)
        running = {
            f"{100 * part:g} %": convergence.running_quantile(sizes, part, every)
            for part in SIZE_QUANTILES
        }
        running["mean"] = convergence.running_mean(sizes, every)
        settled = int(LEFT_OUT * len(sizes))
        rows += [
            (label, name, len(sizes), float(curve.values[-1]), curve.range_after(settled),
             100 * curve.variation_after(settled))
            for name, curve in running.items()
        ]  # fmt: skip
    title = f"{run.name}: running statistics of response sizes"
    return [Text(title, heads, rows, left_out)]


@named("paired", "the same connections in two runs, one by one; needs --against")
def _paired(run: "Results", against: "Results | None") -> list[Text]:
    if against is None:
        raise RunAnalysisError("paired: expected --against, a run with the same connections")
    from_s = max(run.measured_from_s, against.measured_from_s)
    both = paired.matched(run.exchanges, against.exchanges, from_s)
    done = both.drop_nulls(["response_s", "other_response_s"])
    heads = ("bytes", "connections", f"mean of {against.name} - {run.name} (ms)", "95 % from", "to",
             "median (ms)", "95 % from", "to", "faster (%)", "slower (%)")  # fmt: skip
    place = np.searchsorted(CLASSES, done["response_bytes"].to_numpy())
    rows = []
    for name, chosen in [("all", place >= 0), *(
        (bounds, place == number) for number, bounds in enumerate(_class_names())
    )]:  # fmt: skip
        pairs = done.filter(pl.Series(chosen))
        if len(pairs) < 2:
            continue
        gain = paired.paired(pairs["response_s"], pairs["other_response_s"], EQUAL_S)
        rows.append((
            name, gain.count, 1e3 * gain.mean, *(1e3 * end for end in gain.mean_interval),
            1e3 * gain.median, *(1e3 * end for end in gain.median_interval),
            100 * gain.smaller, 100 * gain.larger,
        ))  # fmt: skip
    count = f"first exchanges of {len(both):,} connections, {len(done):,} complete"
    return [Text(f"{against.name} less {run.name}: {count}", tuple(numbered(heads)), rows)]


def _by_label(run: "Results") -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each label with its exchanges (requests and responses) in the measurement window.

    An exchange belongs to the window in which it began.
    """
    labels = run.flows.select("name", "label")
    joined = run.measured_exchanges.join(labels, on="name", maintain_order="left")
    for (label,), exchanges in joined.group_by("label", maintain_order=True):
        yield str(label), exchanges
