"""Sentences on the results of runs: goodput, response and round-trip times, link utilisation."""

from collections.abc import Iterator, Sequence

from longhaul.analysis.comparisons import INTERVAL
from longhaul.results import Results
from longhaul.results.replications import named, replicated
from longhaul.results.shares import Portion, portions

# Maximum number of labels in a sentence.
MOST = 3


def findings(runs: Sequence[Results]) -> list[str]:
    """Return a sentence on the goodputs of each run, or of each group of replications.

    The list is empty if a run is not of TCP. Replications are runs whose scenarios differ only in
    the seed or replication.
    """
    if not all(run.is_tcp for run in runs):
        return []
    return [_sentence(group, len(runs) > 1) for group in replicated(runs)]


def _sentence(group: Sequence[Results], is_named: bool) -> str:
    parts = sorted(portions(group), key=lambda portion: -portion.goodput_bps.mean)
    said = [_gets(portion, alone=len(parts) == 1) for portion in parts[:MOST]]
    if len(parts) > MOST:
        said.append(f"{len(parts) - MOST} more labels the rest")
    sentence = ", ".join(said)
    # Only a single run has further findings; a group of replications has intervals.
    if len(group) == 1:
        sentence += "".join(f"; {text}" for text in _of_one(group[0]))
    elif any(portion.goodput_bps.count > 1 for portion in parts):
        sentence += f" ({INTERVAL})"
    return f"{named(group)}: {sentence}." if is_named else f"{sentence}."


def _gets(portion: Portion, *, alone: bool) -> str:
    mean = portion.goodput_bps
    rate = f"{_rate(mean.mean)} Mbit/s"
    if mean.count > 1:
        rate += f" [{_rate(mean.low)}, {_rate(mean.high)}]"
    if alone or not portion.share.count:
        return f"{portion.label} gets {rate}"
    return f"{portion.label} gets {100 * portion.share.mean:.0f} % of the goodput, {rate}"


def _of_one(run: Results) -> Iterator[str]:
    """Yield sentences on a single run: response times, round-trip times, and the busiest link."""
    whole = run.summary().total
    if whole.get("response_p50_s") is not None:
        yield (
            f"half of the responses take up to {_time(whole['response_p50_s'])}, "
            f"99 % up to {_time(whole['response_p99_s'])}"
        )
    if whole["rtt_mean_s"] is not None:
        yield f"round trips take {_time(whole['rtt_mean_s'])} on average"
    used = run.summary().link(run.bottleneck).get("utilization")
    if used is not None:
        yield f"{run.bottleneck} is used to {100 * used:.0f} %"


def _rate(bps: float) -> str:
    return f"{1e-6 * max(bps, 0.0):.3g}"


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
