"""What is kept of each run of an evaluation: its figures of merit, and figures by label."""

import hashlib
from pathlib import Path
from typing import Any

import polars as pl

from longhaul import _engine
from longhaul.campaign.reduce import facts
from longhaul.campaign.store import Kept
from longhaul.results import Results, merit

# Figures of labels, and of all flows, that summaries have.
OF_LABELS = (
    "goodput_bps", "retransmitted", "timeouts", "response_p50_s", "response_p99_s",
    "delay_p50_s", "delay_p95_s", "delay_p99_s",
)  # fmt: skip


def measure(run: Results) -> Kept:
    """The figures of a run by name, such as `utilization` or `main.goodput_bps`."""
    summary = run.summary()
    figures = {one.name: one.value for one in merit.figures(run)}
    for row in [*summary.labels.to_dicts(), {**summary.total, "label": "all"}]:
        figures |= {f"{row['label']}.{name}": row.get(name) for name in OF_LABELS}
    figures |= _counted(run)
    figures |= _of_links(run)
    whole_s = float(run.meta["simulated_s"])
    for name, value in figures.items():
        if value is None and (name.startswith("convergence") or "response" in name):
            figures[name] = whole_s
    return {"run": facts(run.meta), "figures": figures}


def _counted(run: Results) -> dict[str, float | None]:
    """By label: packets, in all and in a round trip of the path; losses; its part of the link."""
    measured_s = run.meta["simulated_s"] - run.meta["measured_from_s"]
    link: dict[str, Any] = run.links.row(by_predicate=pl.col("name") == run.bottleneck, named=True)
    sums = run.flows.group_by("label", maintain_order=True).agg(
        pl.col("sent_pkts", "dropped_pkts", "goodput_bps").sum(), pl.len().alias("flows")
    )
    figures: dict[str, float | None] = {}
    for row in sums.to_dicts():
        label, sent = row["label"], row["sent_pkts"]
        round_trips = measured_s / (2 * link["delay_s"]) if link["delay_s"] else None
        figures |= {
            f"{label}.sent_pkts": float(sent),
            f"{label}.packets_per_round_trip": sent / round_trips if round_trips else None,
            f"{label}.lost": row["dropped_pkts"] / sent if sent else None,
            f"{label}.part": row["goodput_bps"] / link["rate_bps"],
        }
    figures["goodput_ratio"] = _ratio(sums)
    return figures


def _ratio(sums: pl.DataFrame) -> float | None:
    """Goodput of a flow of the second kind over one of the first, if there are two.

    Labels are of one kind that are the same up to a colon.
    """
    kind = pl.col("label").str.split(":").list.first()
    kinds = sums.group_by(kind, maintain_order=True).agg(pl.col("goodput_bps", "flows").sum())
    if len(kinds) != 2:
        return None
    first, second = kinds["goodput_bps"] / kinds["flows"]
    return float(second / first) if first else None


def _of_links(run: Results) -> dict[str, float | None]:
    """By link of which samples are recorded, such as both directions of a bottleneck."""
    links = run.links.filter(pl.col("name").is_in(run.observed_links()))
    waits = run.delays.filter(pl.col("kind") == "link") if "delays" in run.tables else None
    figures: dict[str, float | None] = {}
    for row in links.iter_rows(named=True):
        name, arrived = row["name"], row["arrived_pkts"]
        figures[f"{name}.utilization"] = row["utilization"]
        figures[f"{name}.drop_rate"] = row["dropped_pkts"] / arrived if arrived else None
        of = None if waits is None else waits.filter(pl.col("name") == name)
        for part in ("mean", "p95"):
            value = None if of is None or of.is_empty() else of[f"{part}_s"][0]
            figures[f"{name}.wait_{part}_s"] = value
    return figures


def variant() -> str:
    """Identifies what runs and what is measured: stores tell apart what others have made.

    The engine itself is part of it, since an algorithm under work changes within a results version.
    """
    sources = [Path(__file__), Path(merit.__file__), Path(_engine.__file__)]
    text = b"".join(source.read_bytes() for source in sources)
    return f"evaluation-{hashlib.sha256(text).hexdigest()[:8]}"
