"""The results of a run: `run.json` and the tables, each read when it is first used."""

import copy
import shutil
import weakref
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from longhaul.figures.proxies import with_names
from longhaul.files.names import numbered, suggestion, unknown
from longhaul.results import kinds
from longhaul.results.files import ResultsError, check_table, read_meta, read_table
from longhaul.results.kinds import Kind
from longhaul.results.response_times import response_times, with_times
from longhaul.results.summary import Summary, bundles, known_sum

__all__ = ["Results", "ResultsError", "open_runs"]


class Results:
    """Results of one run. Tables are Polars data frames whose columns end in their unit."""

    def __init__(self, path: str | Path, *, scratch: Path | None = None) -> None:
        """Open a run directory, or the directory of the given file.

        `scratch` is a temporary directory that is removed when this object is no longer used.
        """
        if scratch is not None:
            weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        self.path = Path(path)
        if self.path.is_file():
            if not (self.path.parent / "run.json").is_file():
                raise ResultsError(
                    f"{path}: expected a run directory, or a file beside its run.json; "
                    "`longhaul run` makes one of a scenario"
                )
            self.path = self.path.parent
        self.meta: dict[str, Any] = read_meta(self.path)

    def _repr_html_(self) -> str:
        """Return HTML with the summary and a small plot, for notebooks (Jupyter, marimo)."""
        return self.kind.card(self)

    def __repr__(self) -> str:
        """Return the run's directory, title, simulated time and number of rows by table."""
        rows = ", ".join(f"{name} {count:,}" for name, count in self.tables.items())
        time_s = self.meta["simulated_s"]
        return f"Results({str(self.path)!r}): {self.title}, {time_s:g} s; tables: {rows}"

    def table(self, name: str) -> pl.DataFrame:
        """Read a table of the run from its file."""
        if not (name in self.tables or name in self.kind.remedies or self.kind.required(name)):
            raise ResultsError(f"{self.path}: {unknown('table', name, self.tables)}")
        return read_table(self.path, self.meta, name, self._remedy(name), self.kind.required(name))

    def _remedy(self, name: str) -> str:
        """Return advice on how to record the table `name`, for the error about a missing table."""
        return self.kind.remedies.get(name, "run the scenario again")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """Table with a row per flow: values for the measurement window.

        Columns for the whole run begin with `total_`. Parallel streams have a row each; `bundles`
        adds them up.
        """
        return self.table("flows")

    @cached_property
    def links(self) -> pl.DataFrame:
        """Table with a row per link direction: values for measurement window and whole run."""
        return self.table("links")

    @cached_property
    def delays(self) -> pl.DataFrame:
        """Quantiles of delays of flows, labels and links, if the scenario asks for them."""
        return self.table("delays")

    @cached_property
    def proxies(self) -> pl.DataFrame:
        """Table with a row per proxy: values for the measurement window and the whole run."""
        return self.table("proxies")

    @cached_property
    def series(self) -> pl.DataFrame:
        """Samples of flows, links and proxies over time; counters are cumulative."""
        return self.table("series")

    @cached_property
    def events(self) -> pl.DataFrame:
        """Table of congestion events, if the scenario records them."""
        return self.table("events")

    @cached_property
    def acks(self) -> pl.DataFrame:
        """State variables of traced flows at each ACK; a row has the value of one variable."""
        return self.table("acks")

    @cached_property
    def exchanges(self) -> pl.DataFrame:
        """Requests and responses of flows that open connections over time."""
        return self.table("exchanges")

    @cached_property
    def kind(self) -> Kind:
        """The kind of simulation.

        This class has properties only for the tables of the kind `connections`.
        """
        return kinds.of(self.meta)

    @property
    def is_tcp(self) -> bool:
        """True if the run's kind is `connections`."""
        return self.kind.name == kinds.CONNECTIONS

    @cached_property
    def own_tables(self) -> Any:  # noqa: ANN401
        """Tables of the run, as an object whose class depends on the run's kind."""
        return self.kind.tables(self)

    @cached_property
    def name(self) -> str:
        """The run's name in tables and plots: that of its directory.

        Among several runs, `with_distinct_names` adds a number to equal names.
        """
        return self.path.resolve().name

    @property
    def scenario(self) -> dict[str, Any]:
        """The resolved scenario, with all defaults."""
        resolved: dict[str, Any] = self.meta["scenario"]
        return resolved

    @property
    def title(self) -> str:
        """Title of the scenario; the run's name if it has none."""
        return str(self.scenario.get("title") or self.name)

    @property
    def tables(self) -> dict[str, int]:
        """Numbers of rows of the run's tables, by table."""
        # `packets` counts the packets of a capture, which is no table.
        return {name: rows for name, rows in self.meta["rows"].items() if name != "packets"}

    @property
    def warnings(self) -> list[str]:
        """Warnings that users should read before they trust the run's numbers."""
        return list(self.meta["warnings"]) + ([self.stopped] if self.stopped else [])

    @property
    def stopped(self) -> str:
        """Time and reason of an early stop; empty for a run that reached its end."""
        meta = self.meta
        if not meta["stopped"]:
            return ""
        whole = f" of {meta['duration_s']:g} s" if "duration_s" in meta else ""
        by = f" by {meta['stopped_by']}" if "stopped_by" in meta else ""
        return f"the run was stopped at {meta['simulated_s']:g} s{whole}{by}"

    @cached_property
    def flow_series(self) -> pl.DataFrame:
        """Samples of flows, with their labels; the samples of parallel streams are added up.

        Their `srtt_s` is the mean. If any flow has parallel streams, columns that are neither
        summed nor averaged, such as `id`, are missing.
        """
        samples = self.series.filter(pl.col("kind") == "flow")
        flows = self.flows.select("name", "label", "bundle")
        samples = samples.join(flows, on="name", maintain_order="left")
        if flows["bundle"].n_unique() == len(flows):
            return samples
        return (
            samples.group_by("t_s", "label", pl.col("bundle").alias("name"), maintain_order=True)
            .agg(
                known_sum(
                    "cwnd_pkts", "ssthresh_pkts", "in_flight_pkts", "sent_pkts",
                    "retransmitted_pkts", "delivered_bytes", "in_order_bytes",
                ),
                pl.col("srtt_s").mean(),
            )
        )  # fmt: skip

    @cached_property
    def sample_times(self) -> pl.Series:
        """Times of the run's samples in seconds, in ascending order."""
        return self.series["t_s"].unique().sort()

    @cached_property
    def link_series(self) -> pl.DataFrame:
        """Samples of links over time."""
        return self.series.filter(pl.col("kind") == "link")

    @cached_property
    def proxy_series(self) -> pl.DataFrame:
        """Samples of each proxy: window of the connection between its nodes, and local queue."""
        return self.series.filter(pl.col("kind") == "proxy")

    @property
    def measured_from_s(self) -> float:
        """Start of the measurement window, in seconds."""
        return float(self.meta["measured_from_s"])

    @property
    def measured_s(self) -> float:
        """Length of the measurement window, in seconds."""
        return float(self.meta["simulated_s"] - self.meta["measured_from_s"])

    @cached_property
    def measured_exchanges(self) -> pl.DataFrame:
        """Exchanges that began in the measurement window, with their response times `response_s`.

        The time is null if the run ended before the exchange did.
        """
        return with_times(self.exchanges, self.measured_from_s)

    @cached_property
    def bundles(self) -> pl.DataFrame:
        """Flows with parallel streams added up, as summaries and plots show them."""
        return bundles(self.flows)

    @cached_property
    def response_times(self) -> pl.DataFrame:
        """Durations of exchanges and transfers that began in the measurement window.

        The columns are `label`, `name` and `response_s`: seconds, or null if unfinished at the end.
        """
        exchanges = self.exchanges if "exchanges" in self.tables else None
        return response_times(self.bundles, exchanges, self.measured_from_s)

    def observed_links(self) -> list[str]:
        """Return the names of the links whose samples were recorded.

        If the run has no samples, return the busiest of all links, access links included.
        """
        if "series" not in self.tables:
            return self._by_utilization(self.links)["name"].head(1).to_list()
        return list(self._sampled_links)

    @cached_property
    def _sampled_links(self) -> tuple[str, ...]:
        """Names of the links that have samples.

        Each such link has a sample at the beginning, so only the first rows are read.
        """
        file = check_table(self.path, self.meta, "series", self._remedy("series"))
        first = self.flows.height + self.links.height + self.tables.get("proxies", 0)
        try:
            head = pl.scan_parquet(file).head(first).select("t_s", "kind", "name").collect()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise ResultsError(f"{file}: damaged ({error}); run the scenario again") from None
        links = head.filter(pl.col("kind") == "link", pl.col("t_s") == head["t_s"].min())
        return tuple(links["name"])

    @cached_property
    def bottleneck(self) -> str:
        """Name of the busiest link among those with samples."""
        observed = self.links.filter(pl.col("name").is_in(self.observed_links()))
        return str(self._by_utilization(observed)["name"][0])

    @staticmethod
    def _by_utilization(links: pl.DataFrame) -> pl.DataFrame:
        """Return links in order of decreasing utilisation; links without a capacity come last."""
        return links.sort("utilization", descending=True, nulls_last=True, maintain_order=True)

    def busy_links(self) -> list[str]:
        """Return the links with samples that are at least half as busy as the busiest of them."""
        observed = self.links.filter(pl.col("name").is_in(self.observed_links()))
        share = pl.col("utilization").fill_null(0.0)
        return observed.filter(share >= share.max() / 2)["name"].to_list()

    def check_link(self, name: str) -> None:
        """Raise an error if a link has no samples."""
        known = self.observed_links()
        if name not in known:
            end = suggestion(name, known)
            raise ResultsError(f"{self.path}: no samples of a link `{name}`{end}")

    @property
    def bottleneck_series(self) -> pl.DataFrame:
        """Samples of the bottleneck link over time."""
        return self.link_series.filter(pl.col("name") == self.bottleneck)

    def algorithms(self) -> dict[str, str]:
        """Return the congestion control algorithm of each label, in the scenario's order.

        It is `udp` for flows without congestion control.
        """
        return dict(
            self.flows.select("label", pl.col("congestion").fill_null("udp"))
            .unique(maintain_order=True)
            .iter_rows()
        )

    @property
    def quic_labels(self) -> set[str]:
        """Labels of the flows that run in a QUIC stack."""
        groups = self.meta["scenario"]["flows"]
        return {group["label"] for group in groups if group["protocol"] == "quic"}

    def label_counts(self) -> dict[str, int]:
        """Return the number of flows with each label; parallel streams count as one flow."""
        counts = self.flows.group_by("label", maintain_order=True).agg(pl.col("bundle").n_unique())
        return dict(counts.iter_rows())

    def headline(self) -> str:
        """Return the simulated time, the seed and the speed, in a line."""
        meta, machine = self.meta, self.meta["machine"]
        ran = "emulated" if "emulation" in meta else "simulated"
        return (
            f"{meta['simulated_s']:g} s {ran}, measured from {meta['measured_from_s']:g} s, "
            f"seed {meta['seed']}; {meta['data_packets']:,} data packets in "
            f"{machine['wall_s']:.1f} s ({machine['packets_per_s'] / 1e6:.2f} M/s)"
        )

    def provenance(self) -> dict[str, str]:
        """Return facts about the origin of this run, such as versions, as texts by name."""
        meta, machine = self.meta, self.meta["machine"]
        return {
            "scenario": self.title,
            "scenario hash": str(meta["scenario_hash"]),
            "seed, replication": f"{meta['seed']}, {meta['replication']}",
            "Longhaul": f"{meta['version']}, results version {meta['results_version']}",
            "simulated": f"{meta['simulated_s']:g} s, measured from {meta['measured_from_s']:g} s",
            "data packets": f"{meta['data_packets']:,} in {meta['events']:,} events",
            "wall time": f"{machine['wall_s']:.1f} s",
            "speed": f"{machine['packets_per_s'] / 1e6:.2f} million packets a second",
            "engine's peak memory": f"{machine['peak_memory_bytes'] / 2**20:.1f} MiB",
            **self.kind.provenance(meta),
            "run directory": str(self.path),
        }

    def as_json(self) -> dict[str, Any]:
        """Return the run, without its scenario, and its metrics as lists and dictionaries."""
        run = {key: value for key, value in self.meta.items() if key != "scenario"}
        return {"directory": str(self.path), "title": self.title, "run": run} | self.figures()

    def figures(self) -> dict[str, Any]:
        """Return the metrics in the run's summary as lists and dictionaries.

        This works for every kind of simulation.
        """
        return self.kind.summary(self).as_dict()

    def summary(self) -> Summary:
        """Return metrics of labels, flows, links and proxies over the measurement window."""
        links = self.links.filter(pl.col("name").is_in(self.observed_links()))
        delays = self.delays if "delays" in self.tables else None
        proxies = with_names(self.proxies, self.measured_s) if "proxies" in self.tables else None
        return Summary.of(self.bundles, links, self.response_times, delays, proxies)


def open_run(path: str | Path) -> Results:
    """Open a run directory: `longhaul.open`."""
    return Results(path)


def open_runs(paths: Sequence[str | Path]) -> list[Results]:
    """Open several run directories."""
    return [Results(path) for path in paths]


def with_distinct_names(runs: Sequence[Results]) -> list[Results]:
    """Return the runs for a table or plot of all of them; those with equal names get a number.

    Names are `run (1)` and `run (2)` if two directories are called `run`.
    """
    names = numbered([run.name for run in runs])
    return [_named(run, name) for run, name in zip(runs, names, strict=True)]


def _named(run: Results, name: str) -> Results:
    """Return the run with another name; the original keeps its own."""
    if run.name == name:
        return run
    other = copy.copy(run)
    other.name = name
    return other
