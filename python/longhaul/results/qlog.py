"""A run as a qlog file for qvis: a trace for each flow, made from its samples and events.

The format is version 0.3, which qvis reads: draft-ietf-quic-qlog-main-schema-04 and
draft-ietf-quic-qlog-quic-events-03. Times are in milliseconds, windows in bytes of payload. Tables
of runs do not record single packets. Therefore each `packet_sent` stands for all packets sent
between two samples, and an additional key `count` has their number. If the QUIC stack of a flow has
written its own qlog (`stack.qlog`), the trace has the events of this log unchanged.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import polars as pl

from longhaul.files.writing import atomic
from longhaul.results.files import ResultsError
from longhaul.results.run import Results

VERSION = "0.3"
ONE_RTT = "1RTT"
# File name of the QUIC stack's log of a flow in a run directory, by the flow's number.
LOG = "flow-{}.sqlog"

# Names of a congestion controller's states in the draft on events (section 7.3).
SLOW_START, AVOIDANCE, RECOVERY = "slow_start", "congestion_avoidance", "recovery"
# Triggers of lost packets (section 7.5), by the run's events.
LOST = {"cut": "reordering_threshold", "timeout": "pto_expired"}
# Trigger for a change of the controller's state by a timeout (section 7.3): QUIC calls it
# persistent congestion (RFC 9002, section 7.6).
PERSISTENT = "persistent_congestion"

Event = dict[str, Any]


def write(run: Results, path: Path) -> None:
    """Write a run of TCP or QUIC flows as one qlog file.

    Raises:
        ResultsError: the run has no samples of flows with a congestion window.

    """
    with atomic(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        file.writelines(_text(run))


def qlog(run: Results) -> dict[str, Any]:
    """Return the content of the qlog file as lists and dictionaries.

    It raises the same errors as `write`.
    """
    return cast(dict[str, Any], json.loads("".join(_text(run))))


def _text(run: Results) -> Iterator[str]:
    """Yield the qlog file's text in pieces, because a stack's own log may not fit into memory."""
    series = run.series.filter(pl.col("kind") == "flow", pl.col("cwnd_pkts").is_not_null())
    if series.is_empty():
        raise ResultsError(f"{run.path}: expected samples of TCP flows, found none")
    events = run.events if "events" in run.tables else None
    origin = f"Longhaul {run.meta['version']}, scenario {run.meta['scenario_hash']}"
    flows = run.flows.filter(pl.col("flow").is_in(series["id"].unique().to_list()))
    head = {
        "qlog_version": VERSION,
        "qlog_format": "JSON",
        "title": run.title,
        "description": origin,
    }
    yield from (_opened(head), '"traces":[')
    for number, flow in enumerate(flows.to_dicts()):
        quic = flow["label"] in run.quic_labels
        log = run.path / LOG.format(flow["flow"])
        told = "the stack's own log"
        if log.is_file():
            lines = _logged(log)
        else:
            told = "each packet_sent stands for `count` packets between two samples"
            samples = series.filter(id=flow["flow"]).to_dicts()
            happened = [] if events is None else events.filter(flow=flow["flow"]).to_dicts()
            lines = map(_dense, _Trace(flow, quic=quic).events(samples, happened))
        yield from ("," if number else "", _opened(_trace(flow, told, quic=quic)), '"events":[')
        for place, line in enumerate(lines):
            yield from ("," if place else "", line)
        yield "]}"
    yield "]}\n"


def _dense(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _opened(value: dict[str, Any]) -> str:
    """Return the text of a JSON object without its closing brace, so that members can follow."""
    return _dense(value)[:-1] + ","


def _logged(log: Path) -> Iterator[str]:
    """Yield the events of a QUIC stack's own log: its records (RFC 7464) after the header."""
    with log.open(encoding="utf-8") as file:
        next(file)
        for record in file:
            yield record.strip("\x1e\n")


def _trace(flow: dict[str, Any], told: str, *, quic: bool) -> dict[str, Any]:
    """Return a flow's qlog trace without events; `told` states the origin of the events."""
    return {
        "title": flow["name"],
        "description": f"{flow['congestion']}; {told}",
        "vantage_point": {"name": flow["from"], "type": "server"},
        "common_fields": {
            "time_format": "relative",
            "reference_time": 0,
            "protocol_type": ["QUIC" if quic else "TCP"],
        },
    }


class _Trace:
    """Converter of a flow's samples and events to qlog; it writes only metrics that change."""

    def __init__(self, flow: dict[str, Any], *, quic: bool) -> None:
        self.quic = quic
        # Bytes per segment, the unit of the tables: of the payload, and of the packet with headers.
        self.payload = flow["total_delivered_bytes"] / max(flow["total_delivered_pkts"], 1)
        self.length = flow["total_sent_bytes"] / max(flow["total_sent_pkts"], 1)
        self.metrics: dict[str, float] = {}
        self.state = ""
        # Runs record no end of a recovery after ECN marks, since nothing is retransmitted.
        self.ends_by_itself = False
        self.sent = self.number = 0

    def events(self, samples: list[Event], happened: list[Event]) -> Iterator[Event]:
        """Yield samples and events in the order of time; at equal times the event comes first."""
        rows = [(row["t_s"], 1, row) for row in samples] + [
            (row["t_s"], 0, row) for row in happened
        ]
        for time, is_sample, row in sorted(rows, key=lambda one: one[:2]):
            told = self._sample(row) if is_sample else self._event(row)
            for name, data in told:
                yield {"time": time * 1e3, "name": name, "data": data}

    def _sample(self, row: Event) -> Iterator[tuple[str, Event]]:
        if row["sent_pkts"] > self.sent:
            count = row["sent_pkts"] - self.sent
            yield (
                "transport:packet_sent",
                {
                    "header": {"packet_type": ONE_RTT, "packet_number": self.number},
                    "raw": {"length": round(count * self.length)},
                    "count": count,
                },
            )
            self.sent, self.number = row["sent_pkts"], self.number + 1
        yield from self._updated(row["cwnd_pkts"], row["ssthresh_pkts"], row["in_flight_pkts"],
                                 row["srtt_s"])  # fmt: skip
        if self.state in ("", SLOW_START) or self.ends_by_itself:
            yield from self._entered(_growing(row["cwnd_pkts"], row["ssthresh_pkts"]))

    def _event(self, row: Event) -> Iterator[tuple[str, Event]]:
        kind = row["event"]
        if kind == "connection_lost":
            yield "connectivity:connection_closed", {"trigger": "error"}
            return
        if kind == "timeout" or (kind == "cut" and row["cause"] != "ecn"):
            yield "recovery:packet_lost", {"trigger": LOST[kind]}
        window, threshold = row["cwnd_after_pkts"], row["ssthresh_after_pkts"]
        yield from self._updated(window, threshold, row["in_flight_pkts"], None)
        if kind == "timeout":
            yield from self._entered(SLOW_START, PERSISTENT if self.quic else None)
        elif kind == "cut":
            marked = row["cause"] == "ecn"
            yield from self._entered(RECOVERY, "ECN" if marked else None)
            self.ends_by_itself = marked
        elif kind != "finish":
            yield from self._entered(_growing(window, threshold))

    def _updated(
        self, window: float, threshold: float | None, in_flight: float, srtt_s: float | None
    ) -> Iterator[tuple[str, Event]]:
        """Yield an event with the metrics that differ from the last written ones, if any."""
        found: dict[str, float] = {
            "congestion_window": round(window * self.payload),
            "bytes_in_flight": round(in_flight * self.payload),
            "packets_in_flight": round(in_flight),
        }
        if threshold is not None and math.isfinite(threshold):
            found["ssthresh"] = round(threshold * self.payload)
        if srtt_s is not None:
            found["smoothed_rtt"] = srtt_s * 1e3
        changed = {name: value for name, value in found.items() if self.metrics.get(name) != value}
        self.metrics |= changed
        if changed:
            yield "recovery:metrics_updated", changed

    def _entered(self, state: str, trigger: str | None = None) -> Iterator[tuple[str, Event]]:
        if state == self.state:
            return
        self.ends_by_itself = False
        data = {"old": self.state, "new": state} if self.state else {"new": state}
        self.state = state
        yield "recovery:congestion_state_updated", data | ({"trigger": trigger} if trigger else {})


def _growing(window: float, threshold: float | None) -> str:
    """Return the state of a flow outside recovery: slow start or congestion avoidance.

    A flow without a threshold is in slow start.
    """
    return SLOW_START if threshold is None or window < threshold else AVOIDANCE
