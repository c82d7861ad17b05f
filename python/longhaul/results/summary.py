"""Summary of a run: metrics by label, flow, link and proxy, over the measurement window."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from longhaul.figures import labels as of_labels
from longhaul.figures import links as of_links
from longhaul.figures import proxies as of_proxies
from longhaul.figures.labels import COUNTS, LIMITS, with_limits
from longhaul.figures.registry import ALL, LABEL, LINK, PROXY, expressions

# Columns of each flow in a summary.
_OF_FLOWS = (
    "name", "label", "congestion", "source", "transfer_bytes", "start_s", "completion_s",
    "goodput_bps", "sent_pkts", "retransmitted_pkts", *COUNTS,
    *(f"before_{name}" for name in COUNTS),
    "rtt_samples", "rtt_mean_s", "cwnd_mean_pkts", "limited_by", "limited_share",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Summary:
    """Metrics of one run in the measurement window."""

    labels: pl.DataFrame
    flows: pl.DataFrame
    links: pl.DataFrame
    proxies: pl.DataFrame
    """Metrics of proxies, a row each; empty if the run has none."""
    total: dict[str, Any]

    def __repr__(self) -> str:
        """Return the metrics of each label, all flows, each link and each proxy, one per line."""
        of_flows = {row["label"]: row for row in self.labels.to_dicts()}
        tables = [of_flows | {ALL: self.total}]
        for owner, table in ((LINK, self.links), (PROXY, self.proxies)):
            if owner in table.columns:
                tables.append({row.pop(owner): row for row in table.to_dicts()})
        return "\n\n".join("\n".join(_lines(columns)) for columns in tables if columns)

    @classmethod
    def of(
        cls,
        flows: pl.DataFrame,
        links: pl.DataFrame,
        response_times: pl.DataFrame,
        delays: pl.DataFrame | None = None,
        proxies: pl.DataFrame | None = None,
    ) -> "Summary":
        """Return the summary of a run from its tables.

        `flows` has parallel streams added up, and `links` are the links to show. `delays` and
        `proxies` are the run's tables of these names, if it has them; `proxies` is passed through
        `longhaul.figures.proxies.with_names` first.
        """
        flows = with_limits(flows)
        # Rows of all flows together and of labels, by source.
        tables = {
            of_labels.flows: (flows, flows),
            of_labels.responses: (response_times, response_times),
        }
        shown = links.select(pl.col("name").alias("link"), *expressions(LINK, of_links.links))
        if delays is not None:
            named = of_labels.with_names(delays)
            tables[of_labels.delays] = (
                named.filter(pl.col("kind") == ALL), named.filter(pl.col("kind") == LABEL),
            )  # fmt: skip
            waits = of_links.with_names(delays).select("link", *expressions(LINK, of_links.waits))
            shown = shown.join(waits, on="link", how="left", maintain_order="left")
        between = pl.DataFrame()
        if proxies is not None:
            between = proxies.select("proxy", *expressions(PROXY, of_proxies.proxies))
        labels = flows.select(pl.col("label").unique(maintain_order=True))
        total: dict[str, Any] = {}
        for source, (of_all, of_each) in tables.items():
            figures = expressions(LABEL, source)
            total |= of_all.select(figures).to_dicts()[0]
            by_label = of_each.group_by("label", maintain_order=True).agg(figures)
            labels = labels.join(by_label, on="label", how="left", maintain_order="left")
        return cls(labels, flows.select(_OF_FLOWS), shown, between, total)

    def link(self, name: str) -> dict[str, Any]:
        """Return the metrics of one link; empty if the run has no such link."""
        return _row(self.links, LINK, name)

    def proxy(self, name: str) -> dict[str, Any]:
        """Return the metrics of one proxy; empty if the run has no such proxy."""
        return _row(self.proxies, PROXY, name)

    def as_dict(self) -> dict[str, Any]:
        """Return the tables as lists and dictionaries."""
        return {
            "labels": self.labels.to_dicts(),
            "all": self.total,
            "flows": self.flows.to_dicts(),
            "links": self.links.to_dicts(),
            **({"proxies": self.proxies.to_dicts()} if self.proxies.columns else {}),
        }


def _lines(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the header of a text table, then a line for each metric that any column has."""
    names = dict.fromkeys(name for column in columns.values() for name in column)
    rows = [[_cell(column.get(name)) for column in columns.values()] for name in names]
    widths = [max(len(head), *map(len, cells)) for head, *cells in zip(columns, *rows, strict=True)]
    first = max(map(len, names))
    for name, cells in [("", list(columns)), *zip(names, rows, strict=True)]:
        if any(cells) and name != "label":
            line = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
            yield f"{name:<{first}}  {line}"


def _cell(value: Any) -> str:  # noqa: ANN401
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _row(table: pl.DataFrame, owner: str, name: str) -> dict[str, Any]:
    """Return the row with `name` in the column `owner` (link or proxy); empty if none."""
    if owner not in table.columns:
        return {}
    rows = table.filter(pl.col(owner) == name).to_dicts()
    return rows[0] if rows else {}


def bundles(flows: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each flow, with its parallel streams added up.

    If no flow has parallel streams, return `flows` itself; otherwise, some columns are left out.
    """
    if flows["bundle"].n_unique() == len(flows):
        return flows
    samples = pl.col("rtt_samples")
    # A flow has not completed while one of its streams has not.
    done = pl.col("completion_s").count() == pl.len()
    end = (pl.col("start_s") + pl.col("completion_s")).max()
    return (
        flows.group_by(pl.col("bundle").alias("name"), maintain_order=True)
        .agg(
            pl.col("label", "congestion", "source").first(),
            pl.col("start_s").min(),
            pl.when(done).then(pl.col("finish_s").max()).alias("finish_s"),
            pl.when(done).then(end - pl.col("start_s").min()).alias("completion_s"),
            ((pl.col("rtt_mean_s") * samples).sum() / samples.sum())
            .fill_nan(None)
            .alias("rtt_mean_s"),
            known_sum(
                "transfer_bytes", "goodput_bps", "sent_pkts", "retransmitted_pkts", "dropped_pkts",
                "marked_pkts", "cuts_loss", "cuts_ecn", "timeouts", "rtt_samples", "cwnd_mean_pkts",
                *LIMITS.values(),
                *(f"total_{name}" for name in COUNTS),
            ),
        )
    )  # fmt: skip


def known_sum(*columns: str) -> pl.Expr:
    """Return the sum of each column's known values; null if all are unknown."""
    values = pl.col(*columns)
    return pl.when(values.count() > 0).then(values.sum())
