"""What the columns of a table of runs mean: keys of scenarios, and figures of runs."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from longhaul import _engine
from longhaul.campaign.responses import Response
from longhaul.campaign.sweep import Setting

# Figures of a run's summary that are no columns of its tables.
SUMMARY = {
    "flows": "number of flows",
    "share": "part of the goodput of all flows",
    "jain": "Jain's fairness index of the goodputs: 1 where all are the same",
    "completed": "flows that had sent all that they had to send",
    "retransmitted": "packets retransmitted, as part of those sent",
    "limited_by_share": "part of the flows that are limited by what limits most of them",
    "responses": "responses that have arrived completely",
    "responses_cut_short": "responses that the end of the run cut short",
    "response_p50_s": "time from a request to the end of its response, the median",
    "response_p95_s": "time from a request to the end of its response, which 95 % do not exceed",
    "response_p99_s": "time from a request to the end of its response, which 99 % do not exceed",
    "before_cuts_loss": "window reductions for losses before the measurement window",
    "before_cuts_ecn": "window reductions for marks before the measurement window",
    "before_timeouts": "retransmission timeouts before the measurement window",
    "data_packets": "data packets simulated",
    "measured_s": "length of the measurement window",
    "wall_s": "time that the simulation took on its machine",
    "results_version": "version of the results: runs of another one may differ",
    "utilisation": "part of the rate that was used",
    "loss_rate": "data packets that went in less those that came out, as part of those that went "
    "in; below zero where more came out, since those on their way from before count as out",
}
# Columns of a table of runs that are neither.
OTHERS = {
    "run": "number of the combination of levels",
    "replication": "number of the repetition: each has its own random numbers",
    "block": "block of the design",
    "tables": "directory of a run's kept tables",
}

# Endings of column names that are units, and how these are written.
UNITS = {
    "bps": "bit/s", "pps": "packets/s", "pkts": "packets", "bytes": "bytes", "s": "s", "ms": "ms",
}  # fmt: skip
# Figures that their names alone do not name.
NAMES = {
    "cuts_ecn": "window reductions for marks", "cuts_loss": "window reductions for losses",
    "jain": "Jain's fairness index", "limited_by_share": "part of the flows with the same limit",
    "responses_cut_short": "responses cut short", "retransmitted": "part of packets retransmitted",
    "share": "part of the goodput of all flows", "wall_s": "time that the run took",
}  # fmt: skip
WORDS = {
    "cwnd": "congestion window", "response": "response time", "rtt": "round-trip time",
    "srtt": "smoothed round-trip time",
}  # fmt: skip
STATISTICS = {"mean": "mean", "min": "least", "max": "largest", "p50": "median"}


@cache
def _keys() -> dict[str, str]:
    """What each key of a scenario is for."""
    return {row["name"]: row["description"] for row in _engine.scenario_keys()}


@cache
def _figures() -> dict[str, str]:
    """What a column of flows or links is, by its name; flows come first."""
    descriptions: dict[str, str] = {}
    for row in _engine.columns():
        if row["table"] in ("flows", "links"):
            descriptions.setdefault(row["name"], row["description"])
    return descriptions


def of_key(path: str) -> str:
    """What a key of a scenario is for; empty of one that no scenario declares."""
    keys = _keys()
    steps = path.split(".")
    # Kinds of congestion control and of queues are described where these are.
    tries = [steps, steps[:-1]] if steps[-1] in ("kind", "limit") else [steps]
    for tried in tries:
        for name, description in keys.items():
            parts = name.split(".")
            if len(parts) == len(tried) and all(
                part in ("*", step) for part, step in zip(parts, tried, strict=True)
            ):
                return description
    # Names of the original's parameters stand behind the descriptions.
    named = re.compile(rf"\({re.escape(steps[-1])}\)")
    return next((text for text in keys.values() if named.search(text)), "")


def of_factors(settings: Mapping[str, Setting]) -> dict[str, str]:
    """What each factor sets."""
    paths: dict[str, list[str]] = {}
    for path, setting in settings.items():
        if setting.factor is not None:
            paths.setdefault(setting.factor, []).append(path)
    meanings = {}
    for factor, places in paths.items():
        first = of_key(places[0]).rstrip(".")
        meanings[factor] = f"sets {', '.join(places)}" + (f": {first}" if first else "")
    return meanings


def of_figure(place: str) -> str:
    """What a figure of a run's summary is, such as `labels.cubic.goodput_bps`; empty if unknown."""
    *where, name = place.split(".")
    text = SUMMARY.get(name) or _figures().get(name, "")
    if not text or not where or where[0] in ("run", "all"):
        return text
    of = {"labels": "flows", "links": "link"}.get(where[0], where[0])
    return f"{of} {'.'.join(where[1:])}: {text}".replace(" :", ":")


def unit_of(name: str) -> str:
    """The unit that a column's name ends in; empty if it does not, as in `within_10_s`."""
    ending = re.search(r"(_per|_\d+)?_([a-z]+)$", name)
    return UNITS.get(ending[2], "") if ending and not ending[1] else ""


def is_known(place: str) -> bool:
    """Whether a place ends in a figure of runs of connections."""
    name = place.rpartition(".")[2]
    return name in SUMMARY or name in _figures()


def in_words(place: str) -> str:
    """A figure without its unit, `labels.cubic.rtt_mean_s` as `mean round-trip time of cubic`."""
    name = place.rpartition(".")[2]
    return (NAMES.get(name) or _in_words(name)) + owner(place)


def owner(place: str) -> str:
    """Of which flows or which link a figure is, such as ` of cubic`; empty of those of all."""
    row = place.split(".")[1:-1]
    return f" of {'.'.join(row)}" if row else ""


def _in_words(name: str) -> str:
    """A name without its unit, and with its statistic first."""
    words = name.split("_")[: -1 if unit_of(name) else None]
    for at, word in enumerate(words):
        quantile = re.fullmatch(r"p(\d+)", word)
        if at and (word in STATISTICS or quantile):
            first = STATISTICS.get(word) or f"{word[1:]} % quantile of"
            words = [first, *words[:at], *words[at + 1 :]]
            break
    return " ".join(WORDS.get(word, word) for word in words)


def of_responses(responses: Sequence[Response]) -> dict[str, str]:
    """What each response is; of one that a user's function measures, which function."""
    meanings = {}
    for response in responses:
        text = (
            f"measured by {response.function}" if response.function else of_figure(response.place)
        )
        named = (
            text
            if response.function or response.place in ("", response.name)
            else f"{response.place}: {text}"
        )
        if text:
            meanings[response.name] = named
    return meanings


def of_table(settings: Mapping[str, Setting], responses: Sequence[Response]) -> dict[str, Any]:
    """What the columns of a campaign's table mean, as its metadata say it."""
    return OTHERS | of_factors(settings) | of_responses(responses)
