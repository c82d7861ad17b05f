"""Descriptions of columns in tables of MesoNet runs, derived from the columns' names.

A name ends with its period: `active_flows_TP1`. `L1_pps_TP1` is the throughput of a long-lived
flow, `DD_pps_TP1` that of a flow class. `mean_alternate_14` ends with the number of a flow group
(module `groups`). Names such as `y6_TP1` and `T.y5` are those of `numbered_responses`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from longhaul.mesonet import groups
from longhaul.mesonet.numbered_responses import CLASSES, OF_PERIODS, OF_RUN, Response

WHOLE = "whole run"
# Chapter of the response numbers by period; chapter 4 has one period, `measured`.
CHAPTERS = {"measured": 4}


@dataclass(frozen=True)
class Meaning:
    """Description of a column: text, unit, and the period of the run that it covers."""

    what: str
    unit: str = ""
    more: str = ""
    """Further information about the column; may be empty."""
    period: str = ""
    """Period at the end of the column's name, such as `TP1`, or `whole run`; may be empty."""


# Description, unit and further information of each figure. Numbers of flows that connected,
# completed or failed are totals; others are means over a period, unless stated otherwise.
FIGURES: dict[str, tuple[str, ...]] = {
    "delivered_pkts": ("data packets delivered", "packets"),
    "events": ("events simulated",),
    "peak_memory_bytes": ("peak memory of the run", "bytes"),
    "connected_flows": ("flows connected", "flows"),
    "completed_flows": ("flows completed", "flows"),
    "failed_flows": ("flows that could not connect", "flows"),
    "active_flows": ("active flows", "flows"),
    "connecting_flows": ("flows connecting", "flows"),
    "initial_slow_start_flows": ("active flows in initial slow start", "flows"),
    "normal_mode_flows": ("active flows in normal congestion control", "flows"),
    "above_threshold_flows": ("active flows in alternate congestion control", "flows"),
    "abated_s": (
        "time until as few flows are in normal congestion control as in the first period",
        "s",
        "as its mean over the first period; the length of the period if there are always more",
    ),
    "completed_per_s": ("flows completed in a second", "flows/s"),
    "completed_per_h": ("flows completed in an hour", "flows/h"),
    "data_packets_per_h": ("data packets in an hour", "packets/h"),
    "out_pps": ("data packets that reach the access routers of receivers", "packets/s"),
    "loss_rate": (
        "loss rate",
        "",
        "data packets sent less those that arrived, as part of those sent; below zero if more "
        "arrived: packets in the network at the beginning count as arrived, and after the large "
        "files of TP2 there are more of them than TP3 loses and has in the network at its end",
    ),
    "retransmission_rate": ("retransmission rate of completed flows",),
    "retransmission_rate_mean": (
        "mean retransmission rate of completed flows", "", "each interval counts the same",
    ),
    "growth_pkts_mean": ("growth of an active flow's window", "packets"),
    "srtt_mean_s": ("smoothed round-trip time", "s"),
    "cwnd_mean_pkts": ("congestion window of an active flow", "packets"),
}  # fmt: skip
OF_FLOWS: dict[str, tuple[str, ...]] = {
    "pps": ("throughput of {}", "packets/s"),
    "full_s": (
        "time until {} reaches the rate of its interface",
        "s",
        "from the beginning of the period; the length of the period if it never does",
    ),
    "cwnd_crossings": ("number of times that the window of {} crosses its mean",),
    "cwnd_kept": (
        "part of its window that {} still has", "", "100 intervals after the period began",
    ),
    "pps_min": (
        "least throughput of {} after its rise", "packets/s",
        "from the time on at which it first reaches the mean of the period",
    ),
    "pps_max": ("largest throughput of {}", "packets/s"),
    "alpha_min": ("FAST's least alpha of {}", "packets"),
    "alpha_end": ("FAST's alpha of {} at the end", "packets"),
}  # fmt: skip
OF_CLASSES: dict[str, tuple[str, ...]] = {
    "pps": ("throughput of each {} flow", "packets/s"),
    "out": ("packets of all {} flows", "packets/s"),
    "active": ("active {} flows", "flows"),
    "completed": ("{} flows completed", "flows"),
    "cwnd_max": ("largest mean congestion window of {} flows", "packets"),
}
# Statistics of a flow group's goodput.
STATISTICS = {
    "mean": "mean goodput", "deviation": "standard deviation of goodput", "min": "least goodput",
    "max": "largest goodput", "pooled_deviation": "standard deviation of goodput of all flows",
    "least": "least goodput of all flows", "largest": "largest goodput of all flows",
}  # fmt: skip
LONG_LIVED = {"L1": "long", "L2": "medium", "L3": "short"}
ENDS = {"D": "direct", "F": "fast", "N": "normal"}

_IN_PERIOD = re.compile(r"(?P<what>.+)_(?P<period>TP\d|measured|half|whole run)")
_OF_FLOW = re.compile(r"(?P<flow>L\d)_(?P<what>\w+)")
_OF_CLASS = re.compile(rf"(?P<name>{'|'.join(CLASSES)})_(?P<what>\w+)")
_FILES = {file.replace(" ", "_"): file for file in groups.FILES}
_OF_FILE = re.compile(rf"(?P<file>{'|'.join(_FILES)})_(?P<what>flows_max|share|\d+)")


def meaning(column: str) -> Meaning | None:
    """Return the description of a column; None if it is unknown."""
    if of_run := _numbered(column, OF_RUN):
        return replace(of_run, period=WHOLE)
    parts = _IN_PERIOD.fullmatch(column)
    if parts is None:
        return _of_figure(column) or _of_group(column) or _of_file(column)
    what, period = parts["what"], parts["period"]
    found = _numbered(what, OF_PERIODS[CHAPTERS.get(period, 6)]) or _of_figure(what)
    return None if found is None else replace(found, period=period)


def _numbered(name: str, responses: Sequence[Response]) -> Meaning | None:
    for response in responses:
        if response.name == name:
            what, _, more = response.title.partition(": ")
            return Meaning(what, response.unit, more)
    return None


def _of_figure(name: str) -> Meaning | None:
    """Return the description of a metric of the network, a long-lived flow, or a flow class."""
    if name in FIGURES:
        return Meaning(*FIGURES[name])
    if (of := _OF_FLOW.fullmatch(name)) and of["what"] in OF_FLOWS:
        found = Meaning(*OF_FLOWS[of["what"]])
        flow = f"the {LONG_LIVED.get(of['flow'], of['flow'])} long-lived flow"
        return replace(found, what=found.what.format(flow))
    if (of := _OF_CLASS.fullmatch(name)) and of["what"] in OF_CLASSES:
        found = Meaning(*OF_CLASSES[of["what"]])
        ends = " and ".join(ENDS[end] for end in of["name"])
        more = f"{of['name']} flows are between {ends} access routers"
        return replace(found, what=found.what.format(of["name"]), more=more)
    return None


def _of_group(name: str) -> Meaning | None:
    """Return the description of a column with a statistic of a flow group."""
    parts = groups.parts_of(name)
    if parts is None:
        return None
    statistic, role, file, path, interface = parts
    unit = "packets/s"
    if statistic == "flows_per_h":
        what, unit = "flows completed in an hour", "flows/h"
    elif statistic in STATISTICS:
        what = STATISTICS[statistic]
    elif (percent := statistic.removeprefix("p")).isdigit():
        what = f"{percent} % quantile of goodput"
    else:
        return None
    return Meaning(f"{what}, {file}, {path} path, {interface} interface, {role}", unit)


def _of_file(name: str) -> Meaning | None:
    """Return the description of column `name` if it is about flows of one file type."""
    parts = _OF_FILE.fullmatch(name)
    if parts is None:
        return None
    file = _FILES[parts["file"]]
    if parts["what"] == "flows_max":
        return Meaning(f"most {file} flows", "flows")
    if parts["what"] == "share":
        return Meaning(f"part of the completed flows that are {file} flows")
    return Meaning(
        f"mean goodput, {file}, without losses, Web objects of {parts['what']} packets", "packets/s"
    )
