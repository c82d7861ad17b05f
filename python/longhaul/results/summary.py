"""A run in a few figures: by label, by flow and by link, over the measurement window."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from longhaul._engine import columns
from longhaul.analysis.fairness import jain_of_column
from longhaul.results.response_times import FIGURES, response_times

# Sources of flows that are one connection each, which shares of a link can be compared among: a
# source of web traffic is many connections, and datagrams do not ask for a share.
COMPARABLE = ("greedy", "transfer", "messages")

# Counters whose values before the measurement window are shown where they are 0 in it.
COUNTS = ("cuts_loss", "cuts_ecn", "timeouts")

# Quantiles of delays that a summary has, where they are measured.
DELAYS = ("p50", "p95", "p99")

# Columns that hold text.
_TEXTS = ("kind", "name", "label", "congestion", "source", "bundle")

# What can hold a sender back; a flow's limiting factor is the one that did longest.
LIMITS = {
    "network": "limited_network_s",
    "receive window": "limited_receive_window_s",
    "application": "limited_application_s",
}


@dataclass(frozen=True)
class Summary:
    """Figures of one run, over the measurement window."""

    labels: pl.DataFrame
    flows: pl.DataFrame
    links: pl.DataFrame
    total: dict[str, Any]

    @classmethod
    def of(
        cls,
        flows: pl.DataFrame,
        links: pl.DataFrame,
        response_times: pl.DataFrame,
        delays: pl.DataFrame | None = None,
    ) -> "Summary":
        """Summarise a run: its flows with parallel streams added up, and the links to show.

        `delays` is the table of that name, if the run has it.
        """
        flows = _flows(flows)
        whole_bps = float(flows["goodput_bps"].sum())
        total = flows.select(_aggregates(whole_bps)).to_dicts()[0]
        labels = flows.group_by("label", maintain_order=True).agg(_aggregates(whole_bps))
        total |= response_times.select(FIGURES).to_dicts()[0]
        of_labels = response_times.group_by("label").agg(FIGURES)
        labels = labels.join(of_labels, on="label", how="left", maintain_order="left")
        links = _links(links)
        if delays is not None:
            labels = _with_delays(labels, "label", delays, "delay")
            links = _with_delays(links, "link", delays, "wait")
            total |= _of_kind(delays, "all", "delay").drop("name").to_dicts()[0]
        return cls(labels, flows, links, total)

    @classmethod
    def without_flows(cls, *, delays: bool) -> "Summary":
        """A summary with all its columns, and nothing in them: what runs of TCP can have.

        `delays`, if they are measured.
        """
        flows, links = (_declared(table) for table in ("flows", "links"))
        times = response_times(flows, None, 0.0)
        measured = None
        if delays:
            row = dict.fromkeys(_declared("delays").columns) | {"kind": "all", "name": ""}
            measured = pl.DataFrame([row], schema=_declared("delays").schema)
        return cls.of(bundles(flows), links, times, measured)

    def link(self, name: str) -> dict[str, Any]:
        """The figures of one link; none if the run has no such link."""
        rows = self.links.filter(pl.col("link") == name).to_dicts()
        return rows[0] if rows else {}

    def as_dict(self) -> dict[str, Any]:
        """The same as plain lists and dictionaries."""
        return {
            "labels": self.labels.to_dicts(),
            "all": self.total,
            "flows": self.flows.to_dicts(),
            "links": self.links.to_dicts(),
        }


def _of_kind(delays: pl.DataFrame, kind: str, what: str) -> pl.DataFrame:
    """Quantiles of one kind of delay, by name."""
    parts = {f"{part}_s": f"{what}_{part}_s" for part in DELAYS}
    return delays.filter(pl.col("kind") == kind).select("name", *parts).rename(parts)


def _with_delays(table: pl.DataFrame, kind: str, delays: pl.DataFrame, what: str) -> pl.DataFrame:
    """A table by label or link with the quantiles of their delays."""
    of_kind = _of_kind(delays, kind, what)
    return table.join(of_kind, left_on=kind, right_on="name", how="left", maintain_order="left")


def _declared(table: str) -> pl.DataFrame:
    """A table of runs with its columns and no rows."""
    names = [column["name"] for column in columns() if column["table"] == table]
    return pl.DataFrame(
        schema={name: pl.String if name in _TEXTS else pl.Float64 for name in names}
    )


def bundles(flows: pl.DataFrame) -> pl.DataFrame:
    """Each flow's figures, those of its parallel streams added up."""
    if flows["bundle"].n_unique() == len(flows):
        return flows
    samples = pl.col("rtt_samples")
    # As long as one stream is unfinished, so is the flow.
    done = pl.col("completion_s").count() == pl.len()
    end = (pl.col("start_s") + pl.col("completion_s")).max()
    return (
        flows.group_by(pl.col("bundle").alias("name"), maintain_order=True)
        .agg(
            pl.col("label", "congestion", "source").first(),
            pl.when(pl.col("transfer_bytes").count() > 0)
            .then(pl.col("transfer_bytes").sum())
            .alias("transfer_bytes"),
            pl.col("start_s").min(),
            pl.when(done).then(pl.col("finish_s").max()).alias("finish_s"),
            pl.when(done).then(end - pl.col("start_s").min()).alias("completion_s"),
            ((pl.col("rtt_mean_s") * samples).sum() / samples.sum())
            .fill_nan(None)
            .alias("rtt_mean_s"),
            pl.col(
                "goodput_bps", "sent_pkts", "retransmitted_pkts", "cuts_loss", "cuts_ecn",
                "timeouts", "rtt_samples", "cwnd_mean_pkts", *LIMITS.values(),
                *(f"total_{name}" for name in COUNTS),
            ).sum(),
        )
    )  # fmt: skip


def _flows(flows: pl.DataFrame) -> pl.DataFrame:
    """Each flow's figures, with its limiting factor."""
    held = [pl.col(column) for column in LIMITS.values()]
    longest = pl.max_horizontal(held)
    limit = pl.coalesce(
        pl.when((column == longest) & (longest > 0)).then(pl.lit(name))
        for name, column in zip(LIMITS, held, strict=True)
    )
    return flows.with_columns(
        limited_by=limit,
        limited_share=(longest / pl.sum_horizontal(held)).fill_nan(None),
    ).select(
        "name", "label", "congestion", "source", "transfer_bytes", "start_s", "completion_s",
        "goodput_bps", "sent_pkts", "retransmitted_pkts", *COUNTS,
        *((pl.col(f"total_{name}") - pl.col(name)).alias(f"before_{name}") for name in COUNTS),
        "rtt_samples", "rtt_mean_s", "cwnd_mean_pkts", "limited_by", "limited_share",
    )  # fmt: skip


def _aggregates(whole_goodput_bps: float) -> list[pl.Expr]:
    """The figures of a group of flows."""
    goodput = pl.col("goodput_bps").fill_null(0.0)
    sent, samples = pl.col("sent_pkts"), pl.col("rtt_samples")
    limits = pl.col("limited_by").drop_nulls()
    shares = goodput.filter(pl.col("source").is_in(COMPARABLE))
    return [
        pl.len().alias("flows"),
        goodput.sum().alias("goodput_bps"),
        (goodput.sum() / whole_goodput_bps).fill_nan(None).alias("share"),
        jain_of_column(shares).fill_nan(None).alias("jain"),
        # Only finite transfers can be completed.
        pl.when(pl.col("transfer_bytes").count() > 0)
        .then(pl.col("completion_s").count())
        .alias("completed"),
        pl.col("cwnd_mean_pkts").mean(),
        ((pl.col("rtt_mean_s") * samples).sum() / samples.sum()).fill_nan(None).alias("rtt_mean_s"),
        (pl.col("retransmitted_pkts").sum() / sent.sum()).fill_nan(None).alias("retransmitted"),
        pl.col(*COUNTS, *(f"before_{name}" for name in COUNTS)).sum(),
        # The factor that limits most flows; with its share, if not all agree.
        limits.mode().sort().first().alias("limited_by"),
        (limits == limits.mode().sort().first()).mean().alias("limited_by_share"),
    ]


def _links(links: pl.DataFrame) -> pl.DataFrame:
    """The figures of links."""
    return links.select(
        pl.col("name").alias("link"), "rate_bps", "utilization",
        # Some figures are only of runs where a link has a token bucket, or thins ACKs.
        pl.col("^line_utilization$"),
        "queue_mean_pkts", "queue_max_pkts", "arrived_pkts", "dropped_pkts",
        pl.col("^dropped_(policed|thinned)_pkts$"), "marked_pkts",
    )  # fmt: skip
