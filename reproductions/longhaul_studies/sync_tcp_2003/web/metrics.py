"""Metrics of one run with web traffic, in the dissertation's units: per cent, packets, ms, kbit/s.

Percentages of responses are relative to complete responses. Goodput counts responses in the forward
direction, headers of packets included, as the dissertation's tables do (section 4.2.5).
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from longhaul.campaign import Run
from longhaul.campaign.store import Kept

from .curves import curve
from .reduce import (
    CCDF_S,
    CDF_S,
    CONGESTED,
    HEADER,
    LARGE_CDF_S,
    LAST,
    ROUND_TRIPS_S,
    SIZES_BYTES,
)

Row = dict[str, float | None]

# Experiments whose distributions are drawn, for the first replication.
DRAWN = ("H1", "H1-TUNED", "HM", "HM-105", "N-WEB", "B-QUEUES")
# Experiments with bands over several replications, and their number, limited by the size of
# results.
BANDED = 3
BANDS = {"protocol": ("reno", "pcwnd", "mixreact"), "load": (60, 85, 95, 105)}
CLASSES = ("all", "small", "large")


def metrics(kept: Kept, run: Run) -> Row:
    """Return the metrics of one run from its stored results."""
    links = {link["name"]: link for link in kept["links"]}
    row: Row = {}
    for name in CONGESTED:
        link, router = links.get(name), name.removeprefix("hop-")
        if link is None:
            continue
        row[f"loss_{router}"] = 100.0 * link["dropped_pkts"] / max(link["arrived_pkts"], 1)
        row[f"queue_{router}"] = link["queue_found_mean_pkts"]
        row[f"queue_over_time_{router}"] = link["queue_mean_pkts"]
    return row | _rates(kept, links) | _of_responses(kept["responses"], kept["largest"])


def _rates(kept: Kept, links: Mapping[str, Mapping[str, Any]]) -> Row:
    first, last = links.get("hop-0") or links["hop-1"], links[LAST if LAST in links else "hop-1"]
    measured_s, responses = kept["run"]["measured_s"], kept["responses"]
    forward = next(label for label in kept["labels"] if label["label"] == "forward")
    # A source's counters include requests, in the other direction.
    payload = forward["delivered_bytes"] - responses["request_bytes"]
    packets = forward["delivered_pkts"] - responses["request_segments"]
    kbps = 8e-3 / measured_s
    return {
        "drops": first["dropped_pkts"],
        "marks": first["marked_pkts"],
        "packets_per_pair": first["arrived_pkts"] / max(responses["complete"], 1),
        "throughput": kbps * first["arrived_bytes"],
        "utilisation": kbps * last["departed_bytes"],
        "goodput": kbps * (payload + HEADER * packets),
        "timeouts": forward["timeouts"],
        "retransmitted": 100.0 * forward["retransmitted_pkts"] / max(forward["sent_pkts"], 1),
        "simulated_s": kept["run"]["simulated_s"],
    }


def _of_responses(responses: Mapping[str, Any], largest: list[Mapping[str, Any]]) -> Row:
    complete = max(responses["complete"], 1)
    done = [exchange["response_bytes"] for exchange in largest if exchange["end_s"] is not None]
    row: Row = {
        "complete": responses["complete"],
        "with_losses": 100.0 * responses["retransmitting"] / complete,
        "rate": _kbps(responses["rate_from_request_bps"]),
        "rate_from_start": _kbps(responses["rate_bps"]),
        "large_share": 100.0 * responses["large"]["count"] / complete,
        "size_p90": responses["size_p90"],
        "size_p99": responses["size_p99"],
        "mean_size": responses["response_bytes"] / complete,
        "above_100_kB": 100.0 * _at(responses["sizes_above"], SIZES_BYTES, 1e5) / complete,
        "largest_MB": 1e-6 * max(done) if done else None,
        "largest_done": max(done, default=0) / largest[0]["response_bytes"] if largest else None,
        "round_trips_above_1_s": 100.0
        * _at(responses["all"]["round_trips_above"], ROUND_TRIPS_S, 1.0)
        / complete,
    }
    for name in CLASSES:
        row |= {
            f"{key}_{name}" if name != "all" else key: value
            for key, value in _of_times(responses[name])
        }
    return row


def _of_times(times: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    count = times["count"]
    if not count:
        return
    for name in ("median", "mean", "p90", "p99", "max"):
        yield name, 1e3 * times[f"{name}_s"]
    for milliseconds in range(100, 1501, 100):
        above = _at(times["above_fine"], CDF_S, milliseconds / 1e3)
        yield f"within_{milliseconds}", 100.0 * (1.0 - above / count)
    yield "within_10_s", 100.0 * (1.0 - _at(times["above_coarse"], LARGE_CDF_S, 10.0) / count)
    # Points of the logarithmic grid: 39.8 and 100 s.
    for seconds in (40, 100):
        yield f"beyond_{seconds}_s", float(_at(times["above"], CCDF_S, seconds))
    yield "step_at_6_s", _step(times["above"])


def _step(above: list[int]) -> float | None:
    """Return the ratio of the number of responses that take 5.6 to 7.1 s to that of 4.5 to 5.6 s.

    `above` counts the responses that take longer than each time in `CCDF_S`. A ratio above 1 would
    show lost SYNs, which are retransmitted after 6 s.
    """
    at = {seconds: _at(above, CCDF_S, seconds) for seconds in (4.466836, 5.623413, 7.079458)}
    before, after = at[4.466836] - at[5.623413], at[5.623413] - at[7.079458]
    # Both ranges are a tenth of a decade.
    return after / before if before > 0 else None


def _at(above: list[int], grid: np.ndarray, point: float) -> int:
    """Return the entry of `above` for the point of `grid` that is nearest to `point`."""
    return above[int(np.argmin(np.abs(grid - point)))]


def _kbps(bps: float | None) -> float | None:
    return None if bps is None else 1e-3 * bps


def drawn(run: Run) -> bool:
    """Return true if figures plot distributions of this run."""
    if run.experiment not in DRAWN:
        return False
    in_band = all(run.cell.get(axis) in levels for axis, levels in BANDS.items())
    return run.replication == 0 or (in_band and run.replication < BANDED)


def trajectory(kept: Kept) -> pl.DataFrame:
    """Return distributions of one run, such as those of response times, as named curves."""
    return pl.concat(list(_curves(kept)))


def _curves(kept: Kept) -> Iterator[pl.DataFrame]:
    responses = kept["responses"]
    small, large = responses["small"], responses["large"]
    yield curve("cdf", CDF_S, _shares(responses["all"], "above_fine", complement=True))
    yield curve("cdf-small", CDF_S, _shares(small, "above_fine", complement=True))
    yield curve("cdf-large", LARGE_CDF_S, _shares(large, "above_coarse", complement=True))
    for name in CLASSES:
        times = responses[name]
        yield curve(f"ccdf-{name}", CCDF_S, _shares(times, "above"))
        yield curve(f"round-trips-{name}", ROUND_TRIPS_S, _shares(times, "round_trips_above"))
    sizes = np.array(responses["sizes_above"]) / max(responses["complete"], 1)
    yield curve("sizes", SIZES_BYTES, sizes)
    for link, counts in kept.get("queues", {}).items():
        if not counts:  # the network of appendix B has fewer links
            continue
        samples = np.cumsum(counts) / max(sum(counts), 1)
        waiting = np.unique(np.linspace(0, len(counts) - 1, 60).astype(int))
        yield curve(f"queue-{link.removeprefix('hop-')}", waiting.astype(float), samples[waiting])


def _shares(times: Mapping[str, Any], key: str, *, complement: bool = False) -> np.ndarray:
    above = np.array(times.get(key, []), float) / max(times["count"], 1)
    return np.asarray(1.0 - above if complement else above)
