"""Calibration of connection rates for the loads of the web experiments (appendix A.3).

`python -m validation.sync_tcp.web_rates` writes three tables of connection rates for each load:
`web_loads`, `web_pairs` and, for the network of appendix B, `dumbbell`. A load is the rate of all
bytes, control packets included, on links without queueing. One run on such links gives the start
and the bytes of each connection. At another connection rate, all starts are scaled, and the bytes
of the connections give the load. Experiment CAL verifies the computed loads.

Every replication has its own rates, because means of heavy-tailed sizes do not converge. The
dissertation requires a response above 10 MB that begins within 1000 s of the warm-up's end, and a
99th percentile of sizes above 65 kB. Each replication uses the first seed that satisfies both
requirements at every load.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count as count_from
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import longhaul
import longhaul_studies
from longhaul.campaign import merge_parts
from longhaul.campaign.template import filled_in
from longhaul.files.rows import as_csv
from longhaul.files.writing import write_text

STUDY = Path(longhaul_studies.__file__).parent / "sync_tcp_2003"
LOADS = (50, 60, 70, 80, 85, 90, 95, 100, 105)
# End-to-end loads of each total load, and exchanges that its runs count (Table 4.1, section 4.2.4).
PAIRS = {75: (50, 60, 70), 90: (50, 60, 70, 80, 85), 105: (50, 60, 70, 80, 85, 90, 95, 100)}
COUNTED = {75: 150_000, 90: 150_000, 105: 100_000}
SINGLE = 250_000
REPLICATIONS = 20
# With the first seed, replications 0 to 4 satisfy the rule of section 4.1.3 and appendix A.3.
FIRST_SEED = 8
LONG_BYTES, LARGE_BYTES, LARGE_WITHIN_S = 65_000, 10_000_000, 1000.0
WARM_UP_S = 120.0
PAYLOAD, WINDOW = 1420, 68
PROPAGATION_S = 0.014
LINK_BPS = 10e6
# Connections per second and cloud of the run from which loads are computed.
END_TO_END_RATE, CROSS_RATE = 24.0, 12.0
CROSS_S = 3600.0
# Rate and replications for the network of appendix B.
DUMBBELL_RATE, DUMBBELL_REPLICATIONS = 60.0, 3
# Maximum time between the start of a group's last connection and the end of the run.
SLACK_S = 5.0


@dataclass(frozen=True)
class Segments:
    """Header bytes and acknowledgements that connections send in addition to their payload."""

    header: int
    """Bytes of the headers of each segment, options included; also the size of an ACK."""
    per_ack: int
    """Segments covered by one ACK."""


SIX_ROUTERS, DUMBBELL = Segments(header=54, per_ack=2), Segments(header=40, per_ack=1)


@dataclass(frozen=True)
class Group:
    """Web connections, their start times, and the bytes that they transfer.

    `rate` is the number of connections per second. The arrays have an element per connection.
    """

    rate: float
    start_s: np.ndarray
    response_bytes: np.ndarray
    """Bytes on the links in the direction of responses, with headers and control packets."""
    request_bytes: np.ndarray
    """Bytes on the links in the direction of requests, with headers and control packets."""
    fastest_bps: np.ndarray
    """Maximum possible rate of each response in bit/s: the window per RTT."""
    size_bytes: np.ndarray
    """Sizes of the responses in bytes, without headers."""

    def starts(self, rate: float) -> np.ndarray:
        """Return the start times of the connections (s), scaled to `rate` connections a second."""
        return self.start_s * (self.rate / rate)

    def carried(self, rate: float, until_s: float) -> tuple[float, float]:
        """Return the bytes of all responses and of all requests, at `rate` connections per second.

        Only connections that start between the warm-up and `until_s` count. Raise ValueError if the
        last connection starts more than `SLACK_S` seconds before `until_s`.
        """
        starts = self.starts(rate)
        if starts[-1] < until_s - SLACK_S:
            raise ValueError(f"too few connections for a rate of {rate:g} per second and cloud")
        counted = (starts >= WARM_UP_S) & (starts < until_s)
        # The largest response may not fit into the run's time.
        possible = self.fastest_bps[counted] / 8 * (until_s - starts[counted])
        responses = np.minimum(self.response_bytes[counted], possible)
        return float(responses.sum()), float(self.request_bytes[counted].sum())

    def keeps_rule(self, rate: float, count: int) -> bool:
        """Return true if the first `count` responses after the warm-up satisfy the study's rule.

        The rule: a response above 10 MB begins within `LARGE_WITHIN_S` of the end of the warm-up,
        and the 99th percentile of response sizes is above 65 kB. `rate` is the number of
        connections per second.
        """
        starts = self.starts(rate)
        first = np.searchsorted(starts, WARM_UP_S)
        sizes = self.size_bytes[first : first + count]
        early = sizes[starts[first : first + count] <= WARM_UP_S + LARGE_WITHIN_S]
        return bool(np.mean(sizes > LONG_BYTES) > 0.01 and early.max() > LARGE_BYTES)

    def end(self, rate: float, count: int) -> float:
        """Return the time (s) at which `count` connections have started after the warm-up."""
        starts = self.starts(rate)
        return float(starts[np.searchsorted(starts, WARM_UP_S) + count - 1])


def fast_network(parts: tuple[str, ...], values: Mapping[str, Any]) -> longhaul.Results:
    """Run a scenario on the network with links ten times as fast.

    `parts` names the files of the study that make up the scenario; `values` replaces keys.
    """
    texts = [(STUDY / f"{part}.toml").read_text("utf-8") for part in parts]
    template = merge_parts([tomllib.loads(text) for text in texts])
    parking_lot = template["topology"]["parking-lot"]
    for link in (parking_lot["access"], *parking_lot["hops"]):
        link["rate"] = "100 Mbps"
    del template["measure"]["stop"]
    return longhaul.run(filled_in(template, {"measure.every": "never", **values}))


def group(
    results: longhaul.Results, rate: float, label: str, sent: Segments = SIX_ROUTERS
) -> Group:
    """Return the connections of the flows with the label `label`.

    `rate` is their connection rate in `results`. `sent` has the size of headers and the number of
    segments per ACK.
    """
    name = pl.col("name").str.replace(r"-\d+$", "")
    table = results.exchanges.filter(name == label).sort("start_s")
    sizes = table.select("request_bytes", "response_bytes").fill_null(0).to_numpy().astype(float)
    segments = np.ceil(sizes / PAYLOAD)
    whole = sizes + sent.header * segments
    # Requests' direction: SYN, ACK of the SYN-ACK, FIN, ACK of the FIN, and ACKs; responses'
    # direction: SYN-ACK, FIN and ACK of the FIN.
    requests = whole[:, 0] + sent.header * (4 + np.ceil(segments[:, 1] / sent.per_ack))
    responses = whole[:, 1] + sent.header * 3
    round_trip_s = (table["extra_rtt_s"] + PROPAGATION_S).to_numpy()
    fastest_bps = 8 * WINDOW * (PAYLOAD + sent.header) / round_trip_s
    starts = table["start_s"].to_numpy()
    return Group(rate, starts, responses, requests, fastest_bps, sizes[:, 1])


def balanced(
    there: Group, back: Group, load: float, until_s: float | None, count: int = 0
) -> tuple[float, float, float]:
    """Return the connection rates of both directions that give a load, and the end of the run.

    `load` is in percent of the links' capacity. The run ends at `until_s`. If `until_s` is None, it
    ends when `count` connections of `there` have started after the warm-up.
    """
    # Begin with the rate that gives the load over the whole run. A third of this rate is the lower
    # bound, since one response may dominate a short run.
    usual = there.rate * load / _whole_load(there, back)
    rates = np.full(2, usual)
    end = 0.0
    for _ in range(60):
        end = there.end(rates[0], count) if until_s is None else until_s
        response, request = there.carried(rates[0], end)
        other_response, other_request = back.carried(rates[1], end)
        carried = np.array([response + other_request, request + other_response])
        wanted = load / 100 * LINK_BPS / 8 * (end - WARM_UP_S)
        # The square root halves the step, since the load jumps if a large response enters or leaves
        # the run.
        before, rates = rates, np.maximum(rates * np.sqrt(wanted / carried), usual / 3)
        if np.allclose(before, rates, rtol=1e-7, atol=0.0):
            break
    forward, reverse = (float(f"{rate:.4g}") for rate in rates)
    return forward, reverse, end


def _whole_load(there: Group, back: Group) -> float:
    """Return the mean load (%) of both directions over the run that yielded `there` and `back`."""
    end = min(there.start_s[-1], back.start_s[-1])
    carried = sum(sum(each.carried(each.rate, end)) for each in (there, back))
    return float(100 * 8 * carried / 2 / LINK_BPS / (end - WARM_UP_S))


def write() -> None:
    """Compute and write both tables of conditions, `web_loads` and `web_pairs`."""
    both = [rates_of(replication) for replication in range(REPLICATIONS)]
    loads = sorted(row for rows, _ in both for row in rows)
    pairs = [row for _, rows in both for row in rows]
    _table("conditions/web_loads", ("load", "replication", "forward", "reverse", "seed"), loads)
    heads = ("pair", "replication", "total", "end_to_end", "counted", "forward", "reverse",
             "cross_1", "cross_1_back", "cross_3", "cross_3_back", "seed")  # fmt: skip
    _table("conditions/web_pairs", heads, sorted(pairs, key=lambda row: row[2:4] + row[1:2]))


Rows = list[tuple[Any, ...]]


def rates_of(replication: int) -> tuple[Rows, Rows]:
    """Return the rows of a replication for the tables `web_loads` and `web_pairs`.

    Both tables use the first seed with enough large responses at every load (`keeps_rule`).
    """
    for seed in count_from(FIRST_SEED):
        end_to_end = _end_to_end(replication, seed)
        loads = [(load, *balanced(*end_to_end, load, None, SINGLE)[:2]) for load in LOADS]
        if not all(end_to_end[0].keeps_rule(forward, SINGLE) for _, forward, _ in loads):
            print(f"replication {replication}: not seed {seed}", flush=True)
            continue
        parts = [
            (total, load, *balanced(*end_to_end, load, None, COUNTED[total]))
            for total, loads_of in PAIRS.items()
            for load in loads_of
        ]
        if all(
            end_to_end[0].keeps_rule(forward, COUNTED[total]) for total, _, forward, _, _ in parts
        ):
            break
        print(f"replication {replication}: not seed {seed}", flush=True)
    crossing = _cross_traffic(replication, seed)
    pairs = [
        (
            f"{total}-{load}", replication, total, load, COUNTED[total], forward, reverse,
            *(rate for groups in crossing for rate in balanced(*groups, total - load, end)[:2]),
            seed,
        )
        for total, load, forward, reverse, end in parts
    ]  # fmt: skip
    print(f"replication {replication}: seed {seed}", flush=True)
    return [(load, replication, *rates, seed) for load, *rates in loads], pairs


def _end_to_end(replication: int, seed: int) -> tuple[Group, Group]:
    """Simulate end-to-end traffic, and return the connections of both directions."""
    rate = END_TO_END_RATE
    values = {
        "seed": seed,
        "replication": replication,
        "flows.forward.traffic.rate": rate,
        "flows.reverse.traffic.rate": rate,
        "measure.stop": {"exchanges": int(1.3 * SINGLE), "of": ["forward"]},
    }
    results = fast_network(("scenarios/web_network", "scenarios/web"), values)
    return group(results, rate, "forward"), group(results, rate, "reverse")


def _cross_traffic(replication: int, seed: int) -> list[tuple[Group, Group]]:
    """Simulate cross traffic; return, for each of two links, the connections by direction."""
    rates = {
        f"flows.{label}.traffic.rate": CROSS_RATE
        for label in ("cross-1", "cross-1-back", "cross-3", "cross-3-back")
    }
    values = {"seed": seed, "replication": replication, "duration": f"{CROSS_S} s", **rates}
    scenario = {"flows.forward.count": 0, "flows.reverse.count": 0}
    results = fast_network(
        ("scenarios/web_network", "scenarios/web", "scenarios/web_cross"),
        {**values, **scenario},
    )
    return [
        (
            group(results, CROSS_RATE, f"cross-{hop}"),
            group(results, CROSS_RATE, f"cross-{hop}-back"),
        )
        for hop in (1, 3)
    ]


def write_dumbbell() -> None:
    """Write the connection rates of appendix B; column `alone` is for traffic in one direction."""
    rows = []
    for replication in range(DUMBBELL_REPLICATIONS):
        values = {
            "replication": replication,
            "flows.*.traffic.rate": DUMBBELL_RATE,
            "measure.stop": {"exchanges": int(1.3 * SINGLE), "of": ["forward"]},
            "topology.parking-lot.hops.*.queue": {"kind": "droptail", "limit": "1000 packets"},
        }
        results = fast_network(("standards/scenarios/dumbbell",), values)
        there, back = (
            group(results, DUMBBELL_RATE, label, DUMBBELL) for label in ("forward", "reverse")
        )
        for load in LOADS:
            forward, reverse, end = balanced(there, back, load, None, SINGLE)
            carried = there.carried(forward, end)[0] * 8 / (end - WARM_UP_S)
            # With traffic in one direction, responses are the only load of their direction.
            alone = float(f"{forward * load / 100 * LINK_BPS / carried:.4g}")
            rows.append((load, replication, forward, reverse, alone))
            print(*rows[-1], flush=True)
    _table(
        "standards/conditions/dumbbell",
        ("load", "replication", "forward", "reverse", "alone"),
        sorted(rows),
    )


def _table(name: str, heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    write_text(STUDY / f"{name}.csv", as_csv([heads, *rows]))


if __name__ == "__main__":
    write()
    write_dumbbell()
