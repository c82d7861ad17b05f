"""Charts of a run: windows, queues, throughput, goodput, response times, active flows."""

from itertools import pairwise

import polars as pl

import longhaul
from tools.site.chart import Chart, Line

MAX_LINES = 8


def windows(run: longhaul.Results) -> Chart:
    """Draw the congestion windows of the first `MAX_LINES` flows."""
    flows = run.series.filter(kind="flow")
    names = _names(flows)
    lines = [_line(flows.filter(name=name), name, "cwnd_pkts") for name in names]
    return Chart(tuple(lines), "time (s)", "cwnd (segments)", f"Congestion windows: {_title(run)}")


def queues(run: longhaul.Results) -> Chart:
    """Draw the queue lengths of at most four links, those with the longest queues."""
    lines = [_line(link, name, "queue_pkts") for name, link in _busy(run)]
    return Chart(tuple(lines), "time (s)", "queue (packets)", f"Queue: {_title(run)}")


def throughput(run: longhaul.Results) -> Chart:
    """Draw the throughput of at most four links, with the capacity of links whose rate changes."""
    lines = []
    for name, link in _busy(run):
        capacity = _rate(link, f"{name}: capacity", "capacity_bytes")
        if _varies(capacity):
            lines.append(capacity)
        lines.append(_rate(link, name, "transmitted_bytes"))
    return Chart(tuple(lines), "time (s)", "rate (Mbit/s)", f"Throughput: {_title(run)}")


def goodputs(run: longhaul.Results) -> Chart:
    """Draw the goodput of the first `MAX_LINES` flows."""
    flows = run.series.filter(kind="flow")
    names = _names(flows)
    lines = [_rate(flows.filter(name=name), name, "delivered_bytes") for name in names]
    return Chart(tuple(lines), "time (s)", "goodput (Mbit/s)", f"Goodput: {_title(run)}")


def responses(run: longhaul.Results) -> Chart:
    """Draw the median response time by response size, in classes of an eighth of a decade.

    Classes with fewer than three responses are left out.
    """
    table = run.table("exchanges").filter(
        pl.col("end_s").is_not_null() & (pl.col("response_bytes") > 0)
    )
    size = (pl.col("response_bytes").log10() * 8).round() / 8
    medians = (
        table.with_columns(size=size, took=(pl.col("end_s") - pl.col("start_s")) * 1e3)
        .group_by("size")
        .agg(pl.col("took").median(), pl.len())
        .filter(pl.col("len") >= 3)
        .sort("size")
    )
    line = Line("median", [3.0 + size - 3.0 for size in medians["size"]], medians["took"].to_list())
    return Chart(
        (line,),
        "size of the response (log10 of bytes)",
        "time (ms)",
        f"Response times: {_title(run)}",
        log=True,
    )


def active(run: longhaul.Results) -> Chart:
    """Draw the number of active flows of MesoNet over time."""
    network = run.table("network")
    line = Line(
        "active flows", network["t_s"].to_list(), network["active_flows"].cast(pl.Float64).to_list()
    )
    return Chart((line,), "time (s)", "active flows", f"Active flows: {_title(run)}")


VIEWS = {view.__name__: view for view in (windows, queues, throughput, goodputs, responses, active)}


def _names(flows: pl.DataFrame) -> list[str]:
    """Return the names of the first `MAX_LINES` flows, in the order of their numbers."""
    return flows.sort("id")["name"].unique(maintain_order=True).to_list()[:MAX_LINES]


def _title(run: longhaul.Results) -> str:
    return str(run.meta["scenario"].get("title") or "")


def _busy(run: longhaul.Results) -> list[tuple[str, pl.DataFrame]]:
    """Return name and samples of at most four links, those with the longest queues.

    If no link had a queue, return the first link.
    """
    links = run.series.filter(kind="link")
    order = (
        links.group_by("name", maintain_order=True)
        .agg(pl.col("queue_pkts").max())
        .sort("queue_pkts", descending=True)
    )
    names = [name for name, most in order.rows() if most][:4] or links["name"].unique(
        maintain_order=True
    ).to_list()[:1]
    return [(name, links.filter(name=name)) for name in names]


def _varies(line: Line) -> bool:
    values = [y for y in line.ys if y]
    return bool(values) and max(values) > 1.01 * min(values)


def _line(samples: pl.DataFrame, name: str, column: str) -> Line:
    return Line(name, samples["t_s"].to_list(), samples[column].cast(pl.Float64).to_list())


def _rate(samples: pl.DataFrame, name: str, counter: str) -> Line:
    """Return a line in Mbit/s from `counter`, a counter of bytes, over at most 200 intervals."""
    every = max(1, -(-samples.height // 200))
    times, bytes_ = (samples[column].gather_every(every).to_list() for column in ("t_s", counter))
    pairs = list(pairwise(zip(times, bytes_, strict=True)))
    rates = [((b or 0) - (a or 0)) * 8e-6 / (u - t) for (t, a), (u, b) in pairs]
    return Line(name, [u for _, (u, _) in pairs], rates)
