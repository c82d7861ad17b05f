"""The tables of a run of MesoNet, each read on first use."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from longhaul import _engine
from longhaul.results.files import ResultsError
from longhaul.results.kinds import RunData

# Tolerance in seconds for ends of intervals, which are rounded products.
ROUNDING_S = 1e-9


@dataclass(frozen=True)
class Period:
    """A named period of a run."""

    name: str
    from_s: float
    to_s: float

    def of(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the intervals that end in the period."""
        return table.filter(pl.col("t_s").is_between(self.from_s, self.to_s, closed="right"))


class MesoNet:
    """Tables of a MesoNet run, with a row per interval if not stated otherwise."""

    def __init__(self, run: RunData) -> None:
        """Create the tables of a run."""
        self.run = run

    @classmethod
    def of(cls, run: RunData) -> "MesoNet":
        """Return the tables of a MesoNet run (`longhaul.Results`); refuse any other run."""
        tables = run.own_tables
        if not isinstance(tables, cls):
            raise ResultsError(f"{run.path}: not a run of MesoNet")
        return tables

    @cached_property
    def network(self) -> pl.DataFrame:
        """Table of the network, with a row per interval: flows by state, packets and losses."""
        return self.run.table("network")

    @cached_property
    def classes(self) -> pl.DataFrame:
        """Table of flow classes, a row per interval and class: flows by state, windows, rates.

        Long-lived flows are not included.
        """
        return self.run.table("classes")

    @cached_property
    def long_lived(self) -> pl.DataFrame:
        """Table of long-lived flows, a row per interval and flow."""
        return self.run.table("long_lived")

    @cached_property
    def routers(self) -> pl.DataFrame:
        """Table of routers, a row per interval and router: queues, losses, utilisation."""
        return self.run.table("routers")

    @cached_property
    def edges(self) -> pl.DataFrame:
        """Table of flows' failures, SYNs, NAKs, timeouts, a row per interval and access router."""
        return self.run.table("edges")

    @cached_property
    def backbone_links(self) -> pl.DataFrame:
        """Table of backbone links, a row per interval and link."""
        return self.run.table("backbone_links")

    @property
    def backbone_ends(self) -> dict[str, tuple[str, str]]:
        """The two routers at the ends of each backbone link, by the link's name."""
        routers = self.topology.filter(tier="backbone")["router"].to_list()
        # Links' names are not split at hyphens, because routers' names may contain hyphens.
        ways = {f"{start}-{end}": (start, end) for start in routers for end in routers}
        links = self.backbone_links["link"].unique(maintain_order=True)
        return {link: ways[link] for link in links}

    @cached_property
    def goodput(self) -> pl.DataFrame:
        """Table of goodput: a row for each batch of completed flows of a flow group.

        A batch has at least 1,000 flows by default; the last one may have fewer.
        """
        return self.run.table("goodput")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """Log with a row per completed or failed flow, if the scenario asks for it."""
        return self.run.table("flows")

    @cached_property
    def flow_trace(self) -> pl.DataFrame:
        """Table of traced flows, a row per event, if the scenario traces any."""
        return self.run.table("flow_trace")

    @cached_property
    def packet_trace(self) -> pl.DataFrame:
        """Table with a row per event of a traced flow's packet, if the scenario traces any."""
        return self.run.table("packet_trace")

    @cached_property
    def measures(self) -> pl.DataFrame:
        """Measurements of the user's own functions, if the run was given any."""
        return self.run.table("measures")

    @cached_property
    def totals(self) -> pl.DataFrame:
        """Table with a row per flow class: the numbers of its flows over the whole run."""
        return self.run.table("totals")

    @cached_property
    def topology(self) -> pl.DataFrame:
        """Table of routers, a row each: position in the topology, speed, buffer and hosts."""
        return self.run.table("topology")

    @property
    def scenario(self) -> dict[str, Any]:
        """The table `[mesonet]` of the resolved scenario."""
        resolved: dict[str, Any] = self.run.scenario["mesonet"]
        return resolved

    @property
    def step_s(self) -> float:
        """Length of a time step in seconds."""
        return _engine.seconds(self.scenario["step"])

    @property
    def interval_s(self) -> float:
        """Length of an interval in seconds."""
        return _engine.seconds(self.scenario["interval"])

    @property
    def periods(self) -> list[Period]:
        """The named periods of the scenario."""
        seconds = _engine.seconds
        return [
            Period(period["name"], seconds(period["from"]), seconds(period["to"]))
            for period in self.scenario["periods"]
        ]

    @property
    def summed(self) -> list[Period]:
        """Periods over which the summary averages: the named periods, or else the whole run."""
        whole = Period("whole run", 0.0, float(self.run.meta["simulated_s"]))
        return self.periods or [whole]

    def has(self, table: str) -> bool:
        """Return true if the run has this table, with at least one row."""
        return bool(self.run.tables.get(table))
