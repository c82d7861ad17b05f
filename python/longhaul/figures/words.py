"""Descriptions of metrics ("figures") and of other columns: title, meaning and unit.

A metric has a path, as in campaigns: `labels.cubic.goodput_bps` is the goodput of the flows with
the label `cubic`. The name `goodput_bps` alone means the goodput of all flows together.
"""

import re

from longhaul.figures.registry import (
    LABEL,
    LINK,
    PROXY,
    ROWS,
    RUN,
    SUMMARY,
    Figure,
    columns,
    find,
    unit_of,
    with_unit,
)

# Owners of figures, by the first part of a path.
TABLES = {table: (of,) for of, table in ROWS.items()} | {"all": (LABEL, RUN)}
# Descriptions of values that are not figures: facts of runs, and values of other kinds of
# simulation, some with the name of a figure.
FACTS = {
    "data_packets": "data packets simulated",
    "measured_s": "length of the measurement window",
    "wall_s": "time that the simulation took on its machine",
    "results_version": "version of the results: runs of another one may differ",
    "utilization": "part of the rate that was used",
    "loss_rate": "data packets sent less those that arrived, as part of those sent; below zero if "
    "more arrived, since packets sent before the interval count as arrived",
}
# Parts of names as words; words for statistics come first in a description.
WORDS = {
    "cwnd": "congestion window", "response": "response time", "rtt": "round-trip time",
    "srtt": "smoothed round-trip time",
}  # fmt: skip
STATISTICS = {"mean": "mean", "min": "least", "max": "largest", "p50": "median"}
# Former names of figures, with the new names; error messages give the new name.
RENAMED = {"utilisation": "utilization"}


def figure_at(place: str) -> Figure | None:
    """Return the metric at the path `place`; None if the path names a column or is unknown.

    A path such as `labels.cubic.goodput_bps` names the metric's owner: a label, link or proxy. A
    path without an owner, such as `utilization`, is searched among the metrics of labels and links
    that summaries show, and then among the metrics of the whole run. Other metrics are not found
    without an owner, since a column of a table may have the same name, such as `lost`.
    """
    where, _, name = place.rpartition(".")
    if where:
        kinds = TABLES.get(where.partition(".")[0], ())
        return next((figure for of in kinds if (figure := find(of, name))), None)
    in_summary = (
        figure for of in (LABEL, LINK) if (figure := find(of, name)) and SUMMARY in figure.listed
    )
    return next(in_summary, None) or find(RUN, name)


def place_of(figure: Figure) -> str:
    """Return a metric's path in responses of campaigns, such as `links.NAME.utilization`."""
    table = ROWS.get(figure.of)
    return f"{table}.NAME.{figure.name}" if table else figure.name


def of_response(place: str) -> Figure | None:
    """Return the metric that a campaign's response names by its path; None if it names no metric.

    The path may also be only the name of a metric of all flows or of links, such as `lost`.
    """
    return figure_at(place) or figure_at(f"all.{place}") or figure_at(f"links.{place}")


def of_suite(name: str) -> Figure | None:
    """Return the metric with this name in an evaluation's suite; None if there is none.

    A name with dots, such as `main.goodput_bps`, is for a metric of a label, link or proxy. Other
    names are for metrics of the whole run.
    """
    owner_, _, last = name.rpartition(".")
    kinds = (LABEL, LINK, PROXY) if owner_ else (RUN,)
    return next((figure for of in kinds if (figure := find(of, last))), None)


def is_known(place: str) -> bool:
    """Return true if a value's path names a metric, or ends with a column's name or `FACTS` key."""
    name = place.rpartition(".")[2]
    return figure_at(place) is not None or name in FACTS or bool(_column(name))


def _column(name: str) -> str:
    return next((columns(of)[name] for of in (LABEL, LINK, PROXY) if name in columns(of)), "")


def meaning(place: str) -> str:
    """Return the meaning of a value by its path, such as `links.NAME.utilization`; may be empty."""
    *where, name = place.split(".")
    figure = figure_at(place)
    text = figure.meaning() if figure else FACTS.get(name) or _column(name)
    if not text or not where or where[0] in ("run", "all"):
        return text
    of = {"labels": "flows", "links": "link", "proxies": "proxy"}.get(where[0], where[0])
    return f"{of} {'.'.join(where[1:])}: {text}".replace(" :", ":")


def unit_at(place: str) -> str:
    """Return the unit of a value by its path, such as `labels.NAME.rtt_mean_s`; may be empty."""
    figure = figure_at(place)
    return figure.unit if figure else unit_of(place)


def title(place: str) -> str:
    """Return the title of a value: `mean RTT of cubic` for the path `labels.cubic.rtt_mean_s`.

    The title of a value that is no metric is its name in words.
    """
    figure = figure_at(place)
    return (figure.title if figure else _in_words(place.rpartition(".")[2])) + owner(place)


def label(place: str) -> str:
    """Return the title of the value at a path, with its unit."""
    return with_unit(title(place), unit_at(place))


def owner(place: str) -> str:
    """Return ` of cubic` for the path `labels.cubic.rtt_mean_s`; empty for paths without a name."""
    row = place.split(".")[1:-1]
    return f" of {'.'.join(row)}" if row else ""


def _in_words(name: str) -> str:
    """Return a column's name as words, such as `mean round-trip time` for `rtt_mean_s`."""
    words = name.split("_")[: -1 if unit_of(name) else None]
    for at, word in enumerate(words):
        quantile = re.fullmatch(r"p(\d+)", word)
        if at and (word in STATISTICS or quantile):
            first = STATISTICS.get(word) or f"{word[1:]} % quantile of"
            words = [first, *words[:at], *words[at + 1 :]]
            break
    return " ".join(WORDS.get(word, word) for word in words)
