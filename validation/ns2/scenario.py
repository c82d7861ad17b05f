"""Translation of a case to a scenario under the profile `ns2-2.35`."""

from __future__ import annotations

from typing import Any

from validation.ns2.cases import Case, FlowGroup
from validation.ns2.linux_modules import (
    LINUX_RECOVERY,
    LINUX_SLOW_START,
    linux_congestion,
    linux_tcp,
)

# Loss recovery by kind of sender (`FlowGroup.kind`).
RECOVERY = {"sack": "ns2-sack", "hstcp": "ns2-sack", "newreno": "ns2-newreno", "reno": "ns2-reno"}


def scenario(case: Case, seed: int) -> dict[str, Any]:
    """Return the scenario of `case` with `seed`.

    The scenario's profile makes all random numbers equal to those of ns-2 with the same seed.
    """
    return {
        "title": case.name,
        "profile": "ns2-2.35",
        "duration": f"{case.duration_s} s",
        "seed": seed,
        "measure": {
            "from": f"{case.warm_up_s} s",
            "every": f"{case.number('sample')} s",
            "events": True,
        },
        "tcp": linux_tcp(case) if case.linux else _tcp(case),
        "topology": {"dumbbell": {"bottleneck": _bottleneck(case)}},
        "flows": [_flow(case, index, group) for index, group in enumerate(case.flow_groups)],
    }


def _tcp(case: Case) -> dict[str, Any]:
    rto = {
        "initial": "3 s",
        "min": f"{case.number('minrto')} s",
        "max": "60 s",
        "tick": f"{case.number('tick')} s",
    }
    return {
        "initial_window": case.number("iw"),
        "receive_window": int(case.number("window")),
        "ecn": case.flag("ecn"),
        "delayed_ack": case.flag("delack") and {"timeout": f"{case.number('delackint')} s"},
        "send_jitter": f"{case.number('overhead')} s",
        "ack_size": f"{case.value('ack')} B",
        "rto": rto,
    }


def _bottleneck(case: Case) -> dict[str, Any]:
    link: dict[str, Any] = {
        "rate": f"{int(case.number('rate'))} bps",
        "delay": f"{case.number('delay')} s",
        "queue": {"kind": "droptail", "limit": f"{case.value('limit')} packets"},
    }
    if case.value("q") == "RED":
        link["queue"] = _red(case)
    if case.number("loss") > 0:
        link["loss"] = {"bernoulli": case.number("loss")}
    return link


def _red(case: Case) -> dict[str, Any]:
    """Return the keys of a RED queue.

    `red_min`, `red_max` and `red_bottom` of 0 become `auto`. A weight `red_qw` of -1 becomes
    `auto`, a weight of 0 `per-packet`.
    """
    weight = case.number("red_qw")
    return {
        "kind": "red",
        "limit": f"{case.value('limit')} packets",
        "min_th": _packets_or_auto(case.number("red_min")),
        "max_th": _packets_or_auto(case.number("red_max")),
        "target_delay": f"{case.number('red_target')} s",
        "weight": {-1.0: "auto", 0.0: "per-packet"}.get(weight, weight),
        "max_p": case.number("red_markp"),
        "gentle": "frozen" if case.flag("red_gentle") else False,
        "adaptive": case.flag("red_adaptive"),
        "bottom": case.number("red_bottom") or "auto",
        "ecn": case.flag("red_setbit"),
        "mean_packet": f"{case.value('red_mps')} B",
        "in_bytes": case.flag("red_qib"),
        "size_scaled": case.flag("red_bytes"),
    }


def _packets_or_auto(packets: float) -> str:
    return f"{packets:g} packets" if packets > 0 else "auto"


def _flow(case: Case, index: int, group: FlowGroup) -> dict[str, Any]:
    flow: dict[str, Any] = {
        "label": f"{group.kind}-{index}",
        "count": group.count,
        "packet": f"{case.value('pkt')} B",
        "recovery": LINUX_RECOVERY if group.linux else RECOVERY[group.kind],
        "slow_start": LINUX_SLOW_START if group.linux else _slow_start(case),
        "congestion": _congestion(case, group),
        # gold.tcl draws a number for every start, even if all start at the same time.
        "start": {"uniform": [f"{group.start_s} s", f"{group.start_s + group.jitter_s} s"]},
        "direction": "reverse" if group.reverse else "forward",
    }
    if group.stop_s is not None:
        flow["stop"] = f"{group.stop_s} s"
    if group.access_delay_s > 0:
        flow["access"] = {
            "at": "sender",
            "rate": f"{int(case.number('accrate'))} bps",
            "delay": f"{group.access_delay_s} s",
            "queue": {"kind": "droptail", "limit": f"{case.value('acclimit')} packets"},
        }
    return flow


def _slow_start(case: Case) -> dict[str, Any]:
    return {"max_ssthresh": case.number("max_ssthresh")}


def _congestion(case: Case, group: FlowGroup) -> dict[str, Any]:
    if group.linux:
        return linux_congestion(group)
    if group.kind != "hstcp":
        return {"kind": "reno"}
    keys = ("low_window", "high_window", "high_p", "high_decrease")
    return {"kind": "hstcp", **{key: case.number(key) for key in keys}}
