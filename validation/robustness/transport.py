"""Scenarios that random keys rarely produce: idle connections, lost tails, receive windows.

Each scenario has a single flow with a known correct outcome. `legal.py` uses these scenarios for
three of eight seeds, and random keys for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

import longhaul
from validation.experiments import dumbbell
from validation.robustness.draws import Draw, time_text

# Algorithms that control the window themselves in all phases.
OWN_WINDOW = {"bbr", "bbr3", "c4", "copa", "prague", "vivace"}
# Window-based algorithms that need neither routers nor a capacity.
ALGORITHMS = (
    "reno", "cubic", "hstcp", "scalable", "htcp", "bic", "illinois", "veno", "westwood", "yeah",
    "vegas", "hybla",
)  # fmt: skip
SLOW_STARTS = ("standard", "hystart++", "hystart", "search", "rapid-start", "limited")
RECOVERIES = ("tahoe", "reno", "newreno", "sack", "sack-prr", "fack", "rack-tlp", "rack-tlp-prr")
SEGMENT_BYTES = 1460
# The path is never full: queues are larger than the amount sent.
PACKETS = "100000 packets"
# Tolerance, since compared exchanges differ in the phase of delayed acknowledgements.
TOLERANCE_S = 0.2


def scenario(seed: int, draw: Draw) -> dict[str, Any] | None:
    """Return a scenario for three of eight seeds, and None for the other seeds.

    For these other seeds, the caller draws a scenario with random keys.
    """
    made = {1: _idle, 3: _tail, 6: _receive_window}.get(seed % 8)
    return {"seed": seed + 1, **made(draw)} if made else None


def _path(draw: Draw, most_s: float) -> tuple[dict[str, Any], float]:
    """Draw a dumbbell without losses with an RTT of at most `most_s`; return it and its RTT (s)."""
    delay_s = draw.log(1e-3, most_s / 2)
    rate_bps = draw.log(1e7, 1e10)
    return dumbbell(f"{rate_bps:.0f} bps", time_text(delay_s), PACKETS), 2 * delay_s


def _flow(draw: Draw) -> dict[str, Any]:
    choose = draw.random.choice
    return {
        "label": "flow",
        "congestion": {"kind": choose(ALGORITHMS)},
        "slow_start": {"kind": choose(SLOW_STARTS)},
        "recovery": choose(RECOVERIES),
        "tcp": {"timestamps": choose((True, False)), "delayed_ack": choose((True, False))},
    }


def _idle(draw: Draw) -> dict[str, Any]:
    """Draw a connection with two exchanges, separated by an idle time of many timeouts."""
    network, trip_s = _path(draw, 0.3)
    flow = _flow(draw)
    large, small = f"{draw.random.randint(20, 800)} kB", "400 B"
    sizes = draw.random.choice(((small, large), (large, small)))
    think_s = 20.0 + 50 * trip_s
    flow["tcp"]["idle_restart"] = draw.random.choice(("none", "halved", "initial-window"))
    flow["traffic"] = {
        "kind": "requests",
        "interval": "60 s",
        "request": sizes[0],
        "response": sizes[1],
        "requests_per_connection": 2,
        "think": time_text(think_s),
    }
    return {
        "profile": draw.random.choice(("rfc", "linux")),
        "duration": "110 s",
        "topology": network,
        "flows": [flow],
    }


def _tail(draw: Draw) -> dict[str, Any]:
    """Draw a transfer with RACK-TLP that loses its last one to five segments."""
    network, _ = _path(draw, 0.15)
    segments = draw.random.randint(8, 200)
    lost = draw.random.randint(1, 5)
    numbers = list(range(segments - lost + 1, segments + 1))
    network["dumbbell"]["bottleneck"]["loss"] = {"packets": numbers}
    flow = _flow(draw)
    flow["recovery"] = draw.random.choice(("rack-tlp", "rack-tlp-prr"))
    flow["transfer"] = f"{segments * SEGMENT_BYTES} B"
    profile = draw.random.choice(("rfc", "linux"))
    if flow["tcp"]["timestamps"]:
        # The packet has 1500 bytes including the option.
        flow["transfer"] = f"{segments * (SEGMENT_BYTES - 12)} B"
    return {"profile": profile, "duration": "60 s", "topology": network, "flows": [flow]}


def _receive_window(draw: Draw) -> dict[str, Any]:
    """Draw an unlimited source whose flight size is limited by receive window or send buffer."""
    network, trip_s = _path(draw, 0.6)
    flow = _flow(draw)
    key = draw.random.choice(("receive_window", "send_buffer"))
    flow["tcp"][key] = draw.random.randint(2, 700)
    if draw.random.random() < 0.5:
        flow["tcp"]["initial_ssthresh"] = draw.random.randint(2, 100_000)
    if draw.random.random() < 0.3:
        flow["slow_start"] = {
            "kind": "careful-resume",
            "saved_cwnd": draw.random.randint(20, 5_000),
        }
    flow["trace_acks"] = True
    return {
        "profile": draw.random.choice(("rfc", "linux")),
        "duration": time_text(30 * trip_s + 2),
        "topology": network,
        "flows": [flow],
    }


def violations(run: longhaul.Results, resolved: dict[str, Any]) -> Iterator[str]:
    """Yield a description of each rule of the transport that a run violates.

    `resolved` is the run's scenario with all defaults.
    """
    groups = {group["label"]: group for group in resolved["flows"]}
    yield from _growth(run, groups)
    if list(groups) == ["flow"]:
        yield from _restarts(run, groups["flow"])
        yield from _tails(run, resolved, groups["flow"])


def _restarts(run: longhaul.Results, group: dict[str, Any]) -> Iterator[str]:
    """Yield an error if slow start after an idle time does not follow the key `idle_restart`.

    The second exchange of `_idle` follows an idle time. With a restart it must not be shorter than
    the first exchange without its handshake; without a restart it must not be longer.
    """
    if group.get("traffic", {}).get("requests_per_connection") != 2:
        return
    exchanges = run.table("exchanges").filter(pl.col("connection") == 0).sort("start_s")
    took = (exchanges["end_s"] - exchanges["start_s"]).to_list()
    if len(took) != 2 or None in took or exchanges["retransmitted_pkts"].sum():
        return
    trip_s = run.flows["total_rtt_min_s"][0]
    first_s, second_s = took[0] - trip_s, took[1]
    key = group["tcp"]["idle_restart"]
    restarts = key != "none" and group["congestion"]["kind"] not in OWN_WINDOW
    allowed_s = TOLERANCE_S + 0.1 * trip_s
    if restarts and second_s < first_s - allowed_s:
        yield f"idle_restart = {key}: exchanges take {first_s!r} s and {second_s!r} s"
    if not restarts and second_s > first_s + allowed_s:
        yield f"idle_restart = {key}: exchanges take {first_s!r} s and {second_s!r} s"


def _tails(run: longhaul.Results, resolved: dict[str, Any], group: dict[str, Any]) -> Iterator[str]:
    """Yield an error if a transfer that loses its last segments has a timeout or does not end."""
    loss = resolved["topology"].get("dumbbell", {}).get("bottleneck", {}).get("loss", {})
    if (
        not group["recovery"].startswith("rack-tlp")
        or "packets" not in loss
        or "transfer" not in group
    ):
        return
    flow = run.flows.row(0, named=True)
    if flow["total_timeouts"] or flow["finish_s"] is None:
        yield (
            f"{group['recovery']}: packets {loss['packets']} of {group['transfer']} are lost: "
            f"{flow['total_timeouts']} timeouts, finished at {flow['finish_s']} s"
        )


def _growth(run: longhaul.Results, groups: dict[str, Any]) -> Iterator[str]:
    """Yield an error for each flow whose window grows although less than half of it is in use.

    The flight size that counts is the largest of the last 2.5 round-trip times. Only flows that
    send in response to acknowledgements are checked: their flight size is constant between two
    acknowledgements, and the trace has a row for each acknowledgement.
    """
    if "acks" not in run.tables:
        return
    checked = {label for label, group in groups.items() if _uses_its_window(group)}
    flows = {row["name"]: row for row in run.flows.to_dicts() if row["label"] in checked}
    traced = run.table("acks").filter(pl.col("name").is_in(list(flows)))
    for (name,), trace in traced.group_by("name", maintain_order=True):
        window = 2.5 * (flows[str(name)]["total_rtt_max_s"] or 0.0)
        yield from _grown(str(name), _by_acknowledgement(trace), window)


def _uses_its_window(group: dict[str, Any]) -> bool:
    tcp = group.get("tcp", {})
    return (
        group.get("protocol", "tcp") == "tcp"
        and "traffic" not in group
        and group["congestion"].get("kind") not in OWN_WINDOW | {None, "peach"}
        and group["slow_start"]["kind"] != "picoquic"
        and not group["recovery"].startswith("ns2-")
        and tcp["pacing"] is False
        and tcp["send_jitter"] == "0 s"
        and not tcp["undo"]
    )


def _by_acknowledgement(trace: pl.DataFrame) -> pl.DataFrame:
    """Return one row per acknowledgement: number, time, window, and segments in flight."""
    first = trace["quantity"] == trace["quantity"][0]
    numbered = trace.with_columns(number=first.cum_sum())
    wanted = numbered.filter(pl.col("quantity").is_in(["cwnd", "in_flight"]))
    return wanted.pivot("quantity", index=["number", "t_s"], values="value").sort("number")


def _grown(name: str, rows: pl.DataFrame, window_s: float) -> Iterator[str]:
    times, windows = rows["t_s"].to_list(), rows["cwnd"].to_list()
    flights = rows["in_flight"].to_list()
    first = 0
    for at in range(1, len(times)):
        while times[first] < times[at] - window_s:
            first += 1
        if windows[at] <= windows[at - 1]:
            continue
        most = max(flights[min(first, at - 1) : at + 1])
        if windows[at - 1] > 2 * most + 1:
            yield (
                f"{name}: the window grows from {windows[at - 1]!r} to {windows[at]!r} at "
                f"{times[at]!r} s with {most!r} in flight"
            )
            return
