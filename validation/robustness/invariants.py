"""Invariants that the results of every scenario have to satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

import longhaul
from longhaul import _engine
from longhaul.models.scenario import BYTES
from validation.robustness import transport

CUMULATIVE = (
    "sent_pkts", "retransmitted_pkts", "delivered_bytes", "in_order_bytes", "departed_pkts",
    "departed_bytes", "transmitted_bytes", "dropped_pkts", "marked_pkts", "capacity_bytes",
    "queue_integral_pkt_s",
)  # fmt: skip


def violations(run: longhaul.Results) -> Iterator[str]:
    """Yield a description of each invariant that a run violates."""
    resolved = run.scenario
    yield from _links(run, resolved)
    yield from _flows(run, resolved)
    yield from _series(run)
    yield from transport.violations(run, resolved)


def _links(run: longhaul.Results, resolved: dict[str, Any]) -> Iterator[str]:
    config = {link["name"]: link for link in _configured(resolved)}
    for link in run.links.to_dicts():
        name, keys = link["name"], config.get(link["name"], {})
        left = link["total_arrived_pkts"] - link["total_dropped_pkts"] - link["total_departed_pkts"]
        if left < 0:
            yield f"{name}: {-left} more packets leave than arrive"
        for window in ("", "total_"):
            if (link[f"{window}queue_mean_pkts"] or 0) > link[f"{window}queue_max_pkts"]:
                yield f"{name}: {window}mean queue above its maximum"
            most = 1.0 + _allowance(run, resolved, keys, window)
            # Packets that a policer passed before the measurement window may have queued for the
            # line.
            bounded = window or "policer" not in keys
            if bounded and (share := link[f"{window}utilization"] or 0) > most:
                yield f"{name}: {window}utilization {share!r} above {most!r}"
            share = link.get(f"{window}line_utilization") or 0
            if share > 1.0 + _rounding(run, resolved):
                yield f"{name}: {window}line_utilization {share!r}"
        limit = _limit_pkts(keys)
        if limit is not None and link["total_queue_max_pkts"] > limit:
            yield f"{name}: {link['total_queue_max_pkts']} packets in a queue of {limit}"


def _configured(resolved: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the keys of every link between routers, for both directions."""
    ((kind, network),) = resolved["topology"].items()
    links = [{"name": "bottleneck", **network["bottleneck"]}] if kind == "dumbbell" else []
    links += [{"name": f"hop-{n}", **hop} for n, hop in enumerate(network.get("hops", []))]
    for link in [*links, *network.get("links", [])]:
        yield link
        yield {**link.get("reverse", {}), "name": f"{link['name']}-reverse"}


def _allowance(
    run: longhaul.Results, resolved: dict[str, Any], keys: dict[str, Any], window: str
) -> float:
    """Return how far a link's utilisation may exceed 1, due to rounding and token buckets.

    A bucket lets its burst pass at once or, in a shaper, one packet that is larger than the burst.
    `window` is the prefix `total_` for the whole run, and empty for the measurement window.
    """
    more = _rounding(run, resolved)
    seconds = _seconds_of(run, whole=bool(window))
    for key in (key for key in ("shaper", "policer") if key in keys):
        bucket = keys[key]
        saved = _bytes(bucket["burst"])
        if key == "shaper":
            saved = max(saved, _largest_packet(resolved))
        more += 8 * saved / (_engine.bits_per_second(bucket["rate"]) * seconds)
    return more


def _largest_packet(resolved: dict[str, Any]) -> float:
    """Return the size in bytes of the largest segment or acknowledgement in the scenario."""
    sizes = [0.0]
    for flow in resolved.get("flows", []):
        tcp = flow.get("tcp", {})
        option = _bytes(tcp.get("timestamp_option", "0 B"))
        sizes += [
            _bytes(size) + option for size in (flow.get("packet"), tcp.get("ack_size")) if size
        ]
    return max(sizes)


def _rounding(run: longhaul.Results, resolved: dict[str, Any]) -> float:
    """Return the largest error of utilisation due to rounding by ns-2's clock; 0 for other clocks.

    ns-2's clock is a sum of seconds in double precision.
    """
    if resolved["clock"] != "ns2":
        return 0.0
    return 1e-9 + 4e-12 / _seconds_of(run, whole=False)


def _seconds_of(run: longhaul.Results, *, whole: bool) -> float:
    """Return the length in seconds of a run if `whole`, else of its measurement window.

    The result is never 0.
    """
    from_s = 0.0 if whole else run.meta["measured_from_s"]
    return max(float(run.meta["simulated_s"]) - from_s, 1e-12)


def _limit_pkts(keys: dict[str, Any]) -> int | None:
    """Return the limit of a queue in packets; None for a limit in bytes, and without a limit.

    With `in_bytes`, as in ns-2's RED, a limit in packets stands for bytes.
    """
    queue = keys.get("queue", {})
    amount, _, unit = str(queue.get("limit", "")).partition(" ")
    return int(amount) if unit.startswith("packet") and not queue.get("in_bytes") else None


def _flows(run: longhaul.Results, resolved: dict[str, Any]) -> Iterator[str]:
    propagation_s = _propagation_s(resolved)
    groups = {group["label"]: group for group in resolved["flows"]}
    for flow in run.flows.to_dicts():
        name, group = flow["name"], groups[flow["label"]]
        delivered, sent = flow["total_delivered_pkts"], flow["total_sent_pkts"]
        if delivered > sent:
            yield f"{name}: {delivered} packets delivered, but only {sent} sent"
        for window in ("", "total_"):
            smallest = flow[f"{window}rtt_min_s"]
            ticks = "tick" in group.get("tcp", {}).get("rto", {})
            floor_s = propagation_s - _timestamp_tick_s(group)
            if smallest is not None and smallest < floor_s - 1e-9 and not ticks:
                yield f"{name}: {window}rtt_min {smallest!r} s below {floor_s!r}"
        # Each of several streams has a fraction of the transfer.
        alone = group.get("streams", 1) == 1
        if "transfer" in group and alone and flow["finish_s"] is not None:
            wanted, arrived = _bytes(group["transfer"]), flow["total_in_order_bytes"]
            # A stopped application may have sent less.
            if arrived > wanted or ("stop" not in group and arrived < wanted):
                yield f"{name}: {arrived} bytes of a transfer of {wanted}"
    departed = run.links["total_departed_bytes"].sum()
    if run.flows["total_delivered_bytes"].sum() > departed and "proxies" not in resolved:
        yield f"more is delivered than the links transmitted ({departed} bytes)"


def _timestamp_tick_s(group: dict[str, Any]) -> float:
    """Return the tick (s) of TCP timestamps if RTTs may be sampled from timestamps, else 0.

    Linux uses timestamps for RTT samples of retransmitted segments.
    """
    tcp = group.get("tcp", {})
    ticks = tcp.get("rtt_sample", "echo") != "echo" and tcp.get("timestamps")
    return 1e-3 if ticks else 0.0


def _propagation_s(resolved: dict[str, Any]) -> float:
    """Return the shortest round-trip propagation delay (s) of a dumbbell; 0 for other networks."""
    network = resolved["topology"].get("dumbbell")
    if network is None:
        return 0.0
    link = network["bottleneck"]
    way = _shortest_s(link)
    back = _shortest_s({**link, **link.get("reverse", {})})
    return way + back


def _shortest_s(link: dict[str, Any]) -> float:
    """Return the minimum delay of a link over the run, in seconds."""
    changes = link.get("changes", [])
    rows = [] if isinstance(changes, str) else changes
    delays = [row["delay"] for row in rows if "delay" in row]
    return min(_engine.seconds(delay) for delay in [link["delay"], *delays])


def _series(run: longhaul.Results) -> Iterator[str]:
    if "series" not in run.tables:
        return
    series = run.table("series")
    for column in series.select(pl.selectors.float()).columns:
        values = series[column].drop_nulls()
        if not values.is_finite().all():
            yield f"series: {column} is not finite"
    steps = series.sort("name", "t_s").select("name", pl.col(CUMULATIVE).diff().over("name"))
    for column in CUMULATIVE:
        for name in steps.filter(pl.col(column) < 0)["name"].unique():
            yield f"series: {column} of {name} falls"


def _bytes(text: str) -> float:
    number, unit = text.split()
    return float(number) * BYTES[unit]
