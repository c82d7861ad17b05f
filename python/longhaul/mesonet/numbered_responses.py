"""The numbered responses of NIST SP 500-282.

Chapters 8 and 9 have y1 to y16 for the network (table 8-19), and y1(u) to y28(u) for each flow
group (table 8-20): `GROUP_RESPONSES`. Chapters 6 and 7 have y1 to y45, which are means over the
intervals of a period (tables 6-15 to 6-20), and T.y1 to T.y28 for the whole run (tables 6-21 to
6-25). Chapter 4 has 22 other responses, y1 to y22 (tables 4-1 and 4-2). As in the original's files,
a mean over no flows counts as 0.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from longhaul.mesonet import groups
from longhaul.mesonet.tables import ROUNDING_S, MesoNet, Period
from longhaul.results.kinds import RunData

CLASSES = ("DD", "DF", "DN", "FF", "FN", "NN")
RUN = "run"
"""Value in the column `period` for responses that cover the whole run."""

FLOWS = pl.col("connecting_flows") + pl.col("active_flows") + pl.col("completed_flows") / 2
"""Number of flows of a class in an interval, for the packet rate per flow.

Connecting flows count fully, flows that complete in the interval count half. Other counts agree
less with table 4-28 (docs/mesonet_validation.md).
"""


def flow_pps(interval_s: float, flows: pl.Expr = FLOWS) -> pl.Expr:
    """Return an expression for the mean throughput per flow of a class, in packets per second.

    The value is null in intervals without flows. `flows` is the number of flows.
    """
    return pl.when(flows > 0).then(pl.col("out_pkts") / flows / interval_s)


@dataclass(frozen=True)
class Part:
    """One period of a run (or the whole run) and its tables, from which responses are computed."""

    tables: MesoNet
    period: Period

    def mean(self, column: str) -> float:
        """Return the mean of a column of the network's table over this part's `period`."""
        return _mean(self._network[column])

    def measured(self, column: str) -> float | None:
        """Return the `mean` of a column; None for a run of an older version without the column."""
        return self.mean(column) if column in self._network.columns else None

    def ratio(self, column: str, over: str) -> float:
        """Return c / (c + o), where c and o are the means of the columns `column` and `over`."""
        part, other = self.mean(column), self.mean(over)
        return part / (part + other) if part + other else 0.0

    def of_class(self, name: str, column: str | pl.Expr) -> float:
        """Return the mean of a column or expression over the period, for the flow class `name`."""
        of_class = self._classes.filter(pl.col("class") == name)
        return _mean(of_class.select(column).to_series())

    def flow_pps(self, name: str) -> float:
        """Return the throughput per flow of the flow class `name`, in packets per second."""
        return self.of_class(name, flow_pps(self.tables.interval_s))

    def of_long_lived(self, number: int, column: str) -> float | None:
        """Return the mean of a column for the long-lived flow `number`, counted from 0.

        Return None if there is no such flow.
        """
        flows = [flow["label"] for flow in self.tables.scenario["long_lived"]]
        if number >= len(flows):
            return None
        return _mean(self._long_lived.filter(pl.col("flow") == flows[number])[column])

    def of_direct_router(self, number: int, column: str) -> float | None:
        """Return the mean of a column for the direct access router `number`, counted from 0.

        Direct access routers are connected to the backbone without a point of presence. Return None
        if there is no such router.
        """
        topology = self.tables.topology
        names = topology.filter(pl.col("class") == "direct")["router"].to_list()
        if number >= len(names):
            return None
        return _mean(self._routers.filter(pl.col("router") == names[number])[column])

    def of_backbone(self, number: int) -> float | None:
        """Count completed flows with an end below backbone router `number`; None if unknown.

        Flows that only cross the router do not count: table 6-25 names them, but the numbers in
        table 6-30 exclude them (docs/mesonet_validation.md).
        """
        topology = self.tables.topology
        names = topology.filter(pl.col("tier") == "backbone")["router"].to_list()
        if number >= len(names):
            return None
        below = topology.filter(pl.col("above") == names[number])["router"].to_list()
        flows = self._routers.filter(pl.col("router").is_in(below))
        last = flows.group_by("router").agg(pl.col("completed_flows").last())
        return float(last["completed_flows"].sum()) if len(flows) else None

    def total(self, column: str, of_class: str | None = None) -> float | None:
        """Return the whole-run value of `column` for one flow class, or the sum over all classes.

        Return None if the class has no value, such as the mean goodput of no flows.
        """
        totals = self.tables.totals
        if of_class is None:
            return float(totals[column].sum())
        value = totals.filter(pl.col("class") == of_class)[column][0]
        return None if value is None else float(value)

    def share_of_file(self, file: str) -> float:
        """Return the fraction of completed flows that transferred a file of type `file`."""
        return dict(groups.shares_of_files(groups.of_batches(self.tables.goodput))).get(file, 0.0)

    @property
    def round_trip_s(self) -> float:
        """Mean round-trip propagation delay in seconds over pairs of backbone routers.

        Only routers with access routers below them count. The delay is 0 if there is no pair.
        """
        return float(self.tables.run.meta["mesonet"]["mean_round_trip_s"] or 0.0)

    @cached_property
    def _network(self) -> pl.DataFrame:
        return self.period.of(self.tables.network)

    @cached_property
    def _classes(self) -> pl.DataFrame:
        return self.period.of(self.tables.classes)

    @cached_property
    def _long_lived(self) -> pl.DataFrame:
        return self.period.of(self.tables.long_lived)

    @cached_property
    def _routers(self) -> pl.DataFrame:
        return self.period.of(self.tables.routers)


def _mean(column: pl.Series) -> float:
    mean = column.cast(pl.Float64).fill_nan(0.0).fill_null(0.0).mean()
    return float(mean) if isinstance(mean, float) else 0.0


@dataclass(frozen=True)
class Response:
    """A numbered response of NIST SP 500-282, and the function that computes it from tables."""

    name: str
    title: str
    unit: str
    needs: str
    """Name of the table without which the response is left out."""
    value: Callable[[Part], float | None]


def responses_of(run: RunData, chapter: int = 6) -> pl.DataFrame:
    """Return a run's responses, as numbered in a chapter of NIST SP 500-282.

    `chapter` is 4, 6 (also for chapter 7) or 8 (also for chapter 9). There is a row per response
    and period, with the columns `response`, `period`, `value`, `unit`, `title`. The period is `run`
    for responses of the whole run, and `whole run` for those of periods if the run has no named
    periods. Responses from tables that the run lacks are left out. The value is null for a period
    that a stopped run did not complete. Numbers of packets and flows are means over intervals for a
    period, and totals for `run`. Times are in ms, throughputs in packets per second.
    """
    tables = MesoNet.of(run)
    rows: list[tuple[str, str, float | None, str, str]] = []
    whole = Period(RUN, 0.0, float(run.meta["simulated_s"]))
    for period, chosen in [
        *((period, OF_PERIODS[chapter]) for period in tables.summed),
        (whole, OF_RUNS.get(chapter, ())),
    ]:
        part = Part(tables, period)
        is_complete = period.to_s <= whole.to_s + ROUNDING_S
        for response in chosen:
            if response.needs == "totals" or tables.has(response.needs):
                value = response.value(part) if is_complete else None
                rows.append((response.name, period.name, value, response.unit, response.title))
    schema = dict.fromkeys(("response", "period", "value", "unit", "title"), pl.String)
    return pl.DataFrame(rows, schema=schema | {"value": pl.Float64}, orient="row")


def of_network(name: str, title: str, unit: str, value: Callable[[Part], float | None]) -> Response:
    """Return a response of the whole network, computed by `value`."""
    return Response(name, title, unit, "network", value)


def column(name: str, title: str, unit: str, of: str) -> Response:
    """Return a response that is the mean of column `of` in the table `network` of a run."""
    return of_network(name, title, unit, lambda part: part.measured(of))


def _quotient(dividend: float, other: float) -> float | None:
    """Return `dividend` divided by `other`; None if `other` is 0."""
    return dividend / other if other else None


def _lost_share(part: Part) -> float | None:
    delivered = _quotient(part.mean("out_pkts"), part.mean("in_pkts"))
    return None if delivered is None else 1.0 - delivered


def _srtt_ms(part: Part) -> float:
    return 1e3 * part.mean("srtt_mean_s")


def _class_pps(name: str, of: str) -> Response:
    title = f"throughput of {of} flows that connect or transfer"
    return Response(name, title, "packets/s", "classes", lambda part: part.flow_pps(of))


def _of_class(first: int, of: str) -> Iterator[Response]:
    """Yield the four responses about flows of class `of`, numbered from `first`."""

    def all_pps(part: Part) -> float:
        return part.flow_pps(of) * part.of_class(of, FLOWS)

    yield _class_pps(f"y{first}", of)
    for number, title, unit, value in (
        (1, "active {} flows", "flows", lambda part: part.of_class(of, "active_flows")),
        (2, "{} flows completed", "flows", lambda part: part.of_class(of, "completed_flows")),
        (3, "packets of all {} flows", "packets/s", all_pps),
    ):
        yield Response(f"y{first + number}", title.format(of), unit, "classes", value)


def _long_lived(number: int, length: str) -> Response:
    return Response(
        f"y{33 + number}", f"throughput of the {length} long-lived flow", "packets/s", "long_lived",
        lambda part: part.of_long_lived(number, "throughput_pps"),
    )  # fmt: skip


def _saturation(number: int, router: str) -> Response:
    return Response(
        f"y{36 + number}", f"part of the buffers of {router} in use", "", "routers",
        lambda part: part.of_direct_router(number, "queue_share"),
    )  # fmt: skip


def _total(number: int, title: str, unit: str, value: Callable[[Part], float | None]) -> Response:
    return Response(f"T.y{number}", title, unit, "totals", value)


def _totals_of_class(first: int, of: str) -> Iterator[Response]:
    yield _total(
        first, f"{of} flows completed", "flows", lambda part: part.total("completed_flows", of)
    )
    yield _total(
        first + 1, f"mean goodput of completed {of} flows", "packets/s",
        lambda part: part.total("goodput_mean_pps", of),
    )  # fmt: skip


def _of_backbone(number: int, router: str) -> Response:
    return Response(
        f"T.y{18 + number}", f"completed flows with an end below backbone router {router}", "flows",
        "routers", lambda part: part.of_backbone(number),
    )  # fmt: skip


def _syns(part: Part) -> float:
    connected = part.total("connected_flows")
    return (part.total("syns") or 0.0) / connected if connected else 0.0


_CHAPTER_6: Sequence[Response] = (
    column("y1", "active flows", "flows", "active_flows"),
    column("y2", "growth of an active flow's window", "packets", "growth_mean_pkts"),
    column("y3", "data packets out", "packets", "out_pkts"),
    column("y4", "congestion window of an active flow", "packets", "cwnd_mean_pkts"),
    column("y5", "flows completed", "flows", "completed_flows"),
    column("y6", "retransmission rate of completed flows", "", "retransmission_rate"),
    of_network("y7", "smoothed round-trip time", "ms", _srtt_ms),
    of_network(
        "y8", "round-trip queueing delay: y7 less the mean propagation delay", "ms",
        lambda part: _srtt_ms(part) - 1e3 * part.round_trip_s,
    ),
    *(response for at, of in enumerate(CLASSES) for response in _of_class(9 + 4 * at, of)),
    *(_long_lived(at, length) for at, length in enumerate(("long", "medium", "short"))),
    *(_saturation(at, name) for at, name in enumerate(("B0a", "C0a", "E0a", "F0a", "I0a", "K0a"))),
    column("y42", "flows connecting", "flows", "connecting_flows"),
    column("y43", "active flows in initial slow start", "flows", "initial_slow_start_flows"),
    column("y44", "active flows in normal congestion control", "flows", "normal_mode_flows"),
    column("y45", "active flows in alternate congestion control", "flows", "above_threshold_flows"),
)  # fmt: skip

_CHAPTER_4: Sequence[Response] = (
    column("y1", "active flows", "flows", "active_flows"),
    of_network(
        "y2", "active flows as part of all sources", "",
        lambda part: _quotient(
            part.mean("active_flows"), float(part.tables.topology["sources"].sum())
        ),
    ),
    column("y3", "data packets in", "packets", "in_pkts"),
    column("y4", "data packets out", "packets", "out_pkts"),
    of_network("y5", "data packets lost as part of those in", "", _lost_share),
    column("y6", "flows completed", "flows", "completed_flows"),
    of_network(
        "y7", "flows completed as part of those and the active ones: y6 / (y6 + y1)", "",
        lambda part: part.ratio("completed_flows", "active_flows")
    ),
    column("y8", "flows that could not connect", "flows", "failed_flows"),
    of_network(
        "y9", "flows that could not connect as part of those and the active ones: y8 / (y8 + y1)",
        "", lambda part: part.ratio("failed_flows", "active_flows")
    ),
    column("y10", "retransmission rate of completed flows", "", "retransmission_rate"),
    column("y11", "congestion window of an active flow", "packets", "cwnd_mean_pkts"),
    column("y12", "growth of an active flow's window", "packets", "growth_mean_pkts"),
    column("y13", "NAKs of an active flow", "", "naks_per_flow"),
    column("y14", "timeouts of an active flow", "", "timeouts_per_flow"),
    of_network("y15", "smoothed round-trip time", "ms", _srtt_ms),
    of_network(
        "y16", "smoothed round-trip time over the propagation delay: y15 over its mean", "",
        lambda part: _quotient(_srtt_ms(part), 1e3 * part.round_trip_s),
    ),
    *(_class_pps(f"y{17 + at}", of) for at, of in enumerate(CLASSES)),
)  # fmt: skip

_CHAPTER_8: Sequence[Response] = (
    column("y1", "active flows", "flows", "active_flows"),
    column("y2", "active flows in initial slow start", "flows", "initial_slow_start_flows"),
    column("y3", "active flows in normal congestion avoidance", "flows", "normal_mode_flows"),
    column(
        "y4", "active flows in alternate congestion avoidance", "flows", "above_threshold_flows"
    ),
    column("y5", "flows connecting", "flows", "connecting_flows"),
    column("y6", "data packets out", "packets", "out_pkts"),
    column("y7", "flows completed", "flows", "completed_flows"),
    column("y8", "congestion window of an active flow", "packets", "cwnd_mean_pkts"),
    column("y9", "growth of an active flow's window", "packets", "growth_mean_pkts"),
    column("y10", "retransmission rate of completed flows", "", "retransmission_rate"),
    of_network("y11", "smoothed round-trip time", "ms", _srtt_ms),
)

OF_PERIODS = {4: _CHAPTER_4, 6: _CHAPTER_6, 8: _CHAPTER_8}
"""Responses computed for each period of a run, by chapter."""

OF_RUN: Sequence[Response] = (
    _total(
        1, "data packets in", "packets",
        lambda part: float(part.tables.run.meta["data_packets"]),
    ),
    _total(
        2, "data packets out", "packets",
        lambda part: float(part.tables.run.meta["mesonet"]["delivered_packets"]),
    ),
    _total(3, "flows connected", "flows", lambda part: part.total("connected_flows")),
    _total(4, "flows completed", "flows", lambda part: part.total("completed_flows")),
    _total(5, "SYNs of a connected flow", "", _syns),
    *(response for at, of in enumerate(CLASSES) for response in _totals_of_class(6 + 2 * at, of)),
    *(_of_backbone(at, name) for at, name in enumerate("ABCDEFGHIJK")),
)  # fmt: skip
"""Responses that chapters 6 and 7 compute for the whole run."""


def _of_file(number: int, file: str, what: str) -> Response:
    return Response(
        f"y{number}", f"completed flows that were {what}, as a part of all", "", "goodput",
        lambda part: part.share_of_file(file),
    )  # fmt: skip


OF_RUNS: dict[int, Sequence[Response]] = {
    6: OF_RUN,
    8: (
        Response(
            "y12", "flows completed in the whole run", "flows", "goodput",
            lambda part: part.total("completed_flows"),
        ),
        _of_file(13, "web", "web objects"),
        _of_file(14, "document", "documents"),
        _of_file(15, "service pack", "service packs"),
        _of_file(16, "movie", "movies"),
    ),
}  # fmt: skip
"""Responses computed for the whole run, by chapter."""

GROUP_RESPONSES = {
    f"y{first + at}(u)": f"{statistic.removesuffix('_pps')}_{role}"
    for first, role in ((1, "alternate"), (15, "standard"))
    for at, statistic in enumerate(("flows_per_h", *groups.STATISTICS))
}
"""Our names, without the number of the flow group, by names of responses in table 8-20."""
