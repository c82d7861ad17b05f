"""The study's figures of one run: of the whole run, and means over its periods.

Names of the latter end in the period: `active_flows_TP1`. So do the study's own, as the chapter of
the experiment numbers them: `y8_TP1`; those of the whole run are `T.y1` to `T.y28`. Long-lived
flows have a throughput each, `L1_pps_TP1`, and the time from the beginning of the period until they
have the rate of their interface, `L1_full_s_TP1`; of flow classes there are the throughput of a
flow and of all together, how many flows are active, and how many were completed: `DD_pps_TP1`,
`DD_out_TP1` and so on.
"""

import re
from collections.abc import Mapping
from typing import Any

from longhaul.campaign import Run
from longhaul.campaign.store import Kept
from longhaul.mesonet.numbered_responses import OF_PERIODS as NUMBERED_OF_PERIODS
from longhaul.mesonet.numbered_responses import OF_RUN as NUMBERED_OF_RUN

from .mixed import metrics as mixed

Row = dict[str, Any]

OF_THE_RUN = ("delivered_pkts", "events", "peak_memory_bytes")
OF_PERIODS = (
    "active_flows", "connecting_flows", "initial_slow_start_flows", "normal_mode_flows",
    "above_threshold_flows", "completed_per_s", "failed_flows", "out_pps", "loss_rate",
    "retransmission_rate", "srtt_mean_s", "cwnd_mean_pkts",
)  # fmt: skip

# The chapter that numbers the responses of an experiment; chapter 7 has those of chapter 6.
NUMBERED = {"SA64": 4, "SB64": 4, "N6-MAIN": 6, "N7-MAIN": 6, "N7-CUT": 6}

# What columns are called in names.
OF_FLOWS = {"pps": "throughput_pps", "full_s": "full_rate_s"}
OF_CLASSES = {
    "pps": "throughput_pps", "out": "out_pps", "active": "active_flows",
    "completed": "completed_flows",
}  # fmt: skip
# Of chapters 6 and 7: the course of long-lived flows, and of the windows of flow classes.
OF_COURSES = {
    name: name for name in ("cwnd_crossings", "cwnd_kept", "pps_max", "alpha_min", "alpha_end")
}
OF_CLASS_WINDOWS = {"cwnd_max": "cwnd_max"}


# What they are, and their units; of a period the mean, unless they say otherwise.
ABOUT: dict[str, tuple[str, str]] = {
    "delivered_pkts": ("data packets delivered", "packets"),
    "events": ("events simulated", ""),
    "peak_memory_bytes": ("most memory that the run took", "bytes"),
    "connected_flows": ("flows connected", "flows"),
    "completed_flows": ("flows completed", "flows"),
    "failed_flows": ("flows that could not connect", "flows"),
    "active_flows": ("active flows", "flows"),
    "connecting_flows": ("flows connecting", "flows"),
    "initial_slow_start_flows": ("active flows in initial slow start", "flows"),
    "normal_mode_flows": ("active flows in normal congestion control", "flows"),
    "above_threshold_flows": ("active flows in alternate congestion control", "flows"),
    "completed_per_s": ("flows completed in a second", "flows/s"),
    "out_pps": ("data packets that reach the access routers of receivers", "packets/s"),
    "loss_rate": (
        "data packets that went in less those that came out, as part of those that went in; below "
        "zero where more came out: those on their way at the beginning count as out, and after the "
        "large files of TP2 these are more than what TP3 loses and has on its way at its end",
        "",
    ),
    "retransmission_rate": ("retransmission rate of completed flows", ""),
    "srtt_mean_s": ("smoothed round-trip time", "s"),
    "cwnd_mean_pkts": ("congestion window of an active flow", "packets"),
}
ABOUT_FLOWS: dict[str, tuple[str, str]] = {
    "pps": ("throughput", "packets/s"),
    "full_s": (
        "time from the beginning of the period until it has the rate of its interface; the length "
        "of the period if it never has",
        "s",
    ),
    "cwnd_crossings": ("how often its window crosses its mean", ""),
    "cwnd_kept": ("its window 100 intervals after the period began, by that at the beginning", ""),
    "pps_max": ("its largest throughput", "packets/s"),
    "alpha_min": ("FAST's least alpha", "packets"),
    "alpha_end": ("FAST's alpha at the end of the period", "packets"),
}
ABOUT_CLASSES: dict[str, tuple[str, str]] = {
    "pps": ("throughput of a flow", "packets/s"),
    "out": ("packets of all flows together", "packets/s"),
    "active": ("active flows", "flows"),
    "completed": ("flows completed", "flows"),
    "cwnd_max": ("largest mean congestion window", "packets"),
}
LONG_LIVED = {"L1": "long", "L2": "medium", "L3": "short"}
ENDS = {"D": "direct", "F": "fast", "N": "normal"}
IN_PERIOD = re.compile(r"(?P<what>.+)_(?P<period>TP\d|measured|half|whole run)")
OF_FLOW = re.compile(r"(?P<flow>L\d)_(?P<what>\w+)")
OF_CLASS = re.compile(r"(?P<ends>[DFN]{2})_(?P<what>\w+)")


def about(name: str, experiment: str) -> tuple[str, str, str] | None:
    """What a metric is, its unit, and the heading that lists have it under; none of others."""
    numbered = {response.name: response for response in NUMBERED_OF_RUN}
    if name in numbered:
        response = numbered[name]
        return f"whole run: {response.title}", response.unit, "whole run"
    parts = IN_PERIOD.fullmatch(name)
    what, period = (parts["what"], parts["period"]) if parts else (name, "whole run")
    of_period = {
        response.name: response for response in NUMBERED_OF_PERIODS[NUMBERED.get(experiment, 6)]
    }
    if what in of_period:
        return f"{period}: {of_period[what].title}", of_period[what].unit, period
    if (flow := OF_FLOW.fullmatch(what)) and flow["what"] in ABOUT_FLOWS:
        text, unit = ABOUT_FLOWS[flow["what"]]
        text = f"the {LONG_LIVED.get(flow['flow'], flow['flow'])} long-lived flow: {text}"
    elif (of := OF_CLASS.fullmatch(what)) and of["what"] in ABOUT_CLASSES:
        text, unit = ABOUT_CLASSES[of["what"]]
        ends = " and ".join(ENDS[end] for end in of["ends"])
        text = f"flows between {ends} access routers: {text}"
    elif what in ABOUT:
        text, unit = ABOUT[what]
    else:
        return None
    return f"{period}: {text}", unit, period


def metrics(kept: Kept, run: Run) -> Row:
    """The figures of a run."""
    totals = kept["totals"]
    row: Row = {
        f"{name}_flows": sum(of_class[f"{name}_flows"] for of_class in totals)
        for name in ("connected", "completed", "failed")
    }
    for period in kept["network"]:
        row |= {f"{name}_{period['period']}": period[name] for name in OF_PERIODS}
    row |= _of_each(kept["classes"], "class", OF_CLASSES)
    row |= _of_each(kept["long_lived"], "flow", OF_FLOWS)
    row |= _of_each(kept.get("courses", []), "flow", OF_COURSES)
    row |= _of_each(kept.get("class_windows", []), "class", OF_CLASS_WINDOWS)
    row |= mixed.of_groups(kept, run.experiment) | kept.get("loss_free", {})
    if chapter := NUMBERED.get(run.experiment):
        row |= {
            _name(response): response["value"]
            for response in kept["responses"]
            if response["chapter"] == chapter
        }
    return row | {name: kept["run"][name] for name in OF_THE_RUN}


def _name(response: Mapping[str, Any]) -> str:
    name, period = response["response"], response["period"]
    return name if name.startswith("T.") else f"{name}_{period}"


def _of_each(rows: list[Mapping[str, Any]], key: str, names: Mapping[str, str]) -> Row:
    return {
        f"{row[key]}_{short}_{row['period']}": row[name]
        for row in rows
        for short, name in names.items()
        if name in row
    }
