"""Thinned time series of a campaign's runs, from stored tables `series`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from longhaul.explore.connections import GROWTH, growth_per_s
from longhaul.explore.tables import Content, add_series, described, held, measures

SERIES = "series.parquet"
# Maximum number of samples per run; many runs have fewer, to limit the total.
SAMPLES = 500
MOST_VALUES = 20_000_000
LEAST_SAMPLES = 20
# Columns of all flows together and of each link, and the maximum number of links.
FLOWS = ("cwnd_pkts", "srtt_s", "delivered_bytes", "retransmitted_pkts")
LINKS = ("queue_pkts", "transmitted_bytes", "dropped_pkts", "marked_pkts")
MOST_LINKS = 4
SUMMED = ("delivered_bytes", "retransmitted_pkts")


def add_kept(content: Content, table: str, folders: Sequence[str]) -> None:
    """Add the time series stored for a campaign's runs to the page's table `table` of these runs.

    The curves are of all flows together, and of at most `MOST_LINKS` links. `folders` has a
    directory per run. Nothing is added if no run has stored samples, if there are fewer than two
    times, or if the page does not have the table.
    """
    files = [Path(folder) / SERIES for folder in folders]
    stored = [at for at, file in enumerate(files) if file.is_file()]
    if not stored or table not in {entry["name"] for entry in content.tables}:
        return
    first = pl.read_parquet(files[stored[0]], columns=["kind", "name"])
    every = first.filter(pl.col("kind") == "link")["name"].unique(maintain_order=True)
    links = every[:MOST_LINKS].to_list()
    names = [name for name, _ in _columns(links)]
    room = MOST_VALUES // (len(files) * len(names))
    samples = max(min(SAMPLES, room), LEAST_SAMPLES)
    ends = [_end(files[at]) for at in stored]
    recorded = max(count for _, _, count in ends)
    if recorded <= samples:
        longest = stored[max(range(len(ends)), key=lambda at: ends[at][2])]
        times = _times(files[longest])
        samples = len(times)
    else:
        first_s, last_s = min(start for start, _, _ in ends), max(end for _, end, _ in ends)
        times = np.linspace(first_s, last_s, samples)
    if len(times) < 2:
        return
    values = {name: np.full((len(files), samples), np.nan, np.float32) for name in names}
    for at in stored:
        for name, curve in _of_run(files[at], links, times):
            values[name][at] = curve
    known = described(files[stored[0]])
    shown = measures(values, {name: _about(name, known) for name in names})
    thinned = f"{samples} of up to {recorded:,} samples of each run" if recorded > samples else ""
    size = 2e-6 * len(files) * samples * len(names)
    some = "" if len(stored) == len(files) else f" {len(stored)} of {len(files)} runs have samples."
    note = f"Curves show {thinned or f'{recorded:,} samples of each run'} ({size:.1f} MB).{some}"
    dropped = next((name for name in names if name.endswith("dropped_pps")), "")
    add_series(content, table, times, shown, names, lost=dropped, note=note)


def _columns(links: Sequence[str]) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield the name of each curve, and the place of its samples: kind, link and column.

    The kind is `flow` or `link`. A curve of kind `flow` is of all flows, and its link is empty.
    """
    places = [("flow", "", column) for column in FLOWS]
    places += [("link", link, column) for link in links for column in LINKS]
    for kind, link, column in places:
        name = GROWTH[column][0] if column in GROWTH else column
        yield f"{link or 'flows'} {name}", (kind, link, column)


def _about(name: str, about: dict[str, str]) -> str:
    """Return the description of the curve `name`, of a link or of all flows together.

    `about` has the descriptions of columns.
    """
    element, _, short = name.rpartition(" ")
    column = next((key for key, (grown, _) in GROWTH.items() if grown == short), short)
    text = about.get(column, "")
    if column in GROWTH:
        text = f"{text}: growth per second" if text else ""
    if element != "flows":
        return f"link {element}: {text}"
    return f"{'sum' if column in SUMMED else 'mean'} of all flows of the run: {text}"


def _end(file: Path) -> tuple[float, float, int]:
    """Return the times of the first and last sample of a run, and the number of samples."""
    times = pl.scan_parquet(file).select(
        pl.col("t_s").min().alias("first"), pl.col("t_s").max().alias("last"),
        pl.col("t_s").n_unique().alias("count"),
    ).collect()  # fmt: skip
    first, last, count = times.row(0)
    return float(first), float(last), int(count)


def _times(file: Path) -> np.ndarray:
    """Return the times of all samples of a run, in seconds."""
    times = pl.scan_parquet(file).select(pl.col("t_s").unique().sort()).collect()["t_s"]
    seconds: np.ndarray = times.to_numpy()
    return seconds


def _of_run(
    file: Path, links: Sequence[str], times: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the curves of a run: names, and values at `times`.

    A value is the latest sample or, for counters, the growth per second since the previous time. It
    is NaN before the first sample, and later than one step of `times` after the last.
    """
    table = pl.read_parquet(file)
    for name, (kind, element, column) in _columns(links):
        if column not in table.columns:
            continue
        mine = table.filter(pl.col("kind") == kind, pl.col(column).is_not_null())
        if element:
            mine = mine.filter(pl.col("name") == element)
        together = pl.col(column).sum() if column in SUMMED else pl.col(column).mean()
        curve = mine.group_by("t_s").agg(together).sort("t_s")
        if curve.is_empty():
            continue
        seconds, step_s = curve["t_s"].to_numpy(), times[1] - times[0]
        values = held(seconds, curve[column].cast(pl.Float64).to_numpy(), times, step_s)
        if column in GROWTH:
            sampled_s = held(seconds, seconds, times, step_s)
            values = growth_per_s(values, sampled_s, GROWTH[column][1])
        yield name, values
