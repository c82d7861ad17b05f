"""Tables and curves in the explorer's page, made from data frames."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from longhaul._engine import LonghaulError
from longhaul.analysis.clusters import dendrogram
from longhaul.analysis.network_layout import Place
from longhaul.explore.blobs import Blobs
from longhaul.figures.registry import unit_of
from longhaul.libraries import hierarchy

# Maximum number of different texts in a column; columns with more are left out.
MOST_CATEGORIES = 60_000
# Maximum rows and columns of a heat map, and values of all curves of a table.
MOST_CLUSTERED = 400
MOST_COLUMNS = 30
MOST_SAMPLES = 40_000_000
# Number of rows above which a page has only a sample of a table that `add_large` adds.
MOST_ROWS = 1_000_000


@dataclass
class Content:
    """Content of a page, to which tables, curves and networks are added."""

    blobs: Blobs = field(default_factory=Blobs)
    tables: list[dict[str, Any]] = field(default_factory=list)
    series: list[dict[str, Any]] = field(default_factory=list)
    networks: list[dict[str, Any]] = field(default_factory=list)
    relations: list[dict[str, Any]] = field(default_factory=list)
    large: dict[str, Any] = field(default_factory=dict)
    """Tables of which the page contains only a sample, by name."""
    sample: int = MOST_ROWS
    """Number of rows above which `add_large` samples a table; `add_table` adds all rows."""


@dataclass(frozen=True)
class Roles:
    """Roles of a table's columns on the page."""

    label: str | None = None
    """Column that names the rows."""
    colour: str | None = None
    """Column by which rows are coloured at first."""
    factors: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Columns that are factors, each with its levels in order."""
    numbers: Sequence[str] = ()
    """Numeric columns that identify rows, such as a replication; they are not metrics."""
    shown: Sequence[str] = ()
    """Columns that the page shows at first."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of columns, by name."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Units by column name, for columns whose names do not end in the unit."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Headings under which the page lists columns, by column name; such as periods of the run."""
    competitor: str | None = None
    """Factor whose levels are compared under equal conditions, such as the algorithm."""
    title: str = ""
    """Title of the table, if it differs from its name."""
    there: str = ""
    """Text on the numbers of existing and needed runs."""
    is_partial: bool = False
    """True if some of the needed runs are missing."""
    samples: str = ""
    """Scenario setting that would record samples for curves over time."""
    note: str = ""
    """Text that the page shows with the table."""


@dataclass(frozen=True)
class Measure:
    """Values of a metric over time; shape: rows of the table x times, NaN for missing values."""

    name: str
    values: np.ndarray
    unit: str = ""
    about: str = ""


def measures(values: Mapping[str, np.ndarray], about: Mapping[str, str]) -> list[Measure]:
    """Return a metric for each array in `values`, whose keys are the metrics' names.

    Units are taken from the names, and descriptions from `about`.
    """
    return [
        Measure(name, each, unit_of(name), about.get(name, "")) for name, each in values.items()
    ]


def described(file: Path) -> dict[str, str]:
    """Return the description of each column of a run's table, from its metadata."""
    said = pl.read_parquet_metadata(file).get("longhaul.columns", "[]")
    return {column["name"]: column.get("description", "") for column in json.loads(said)}


def add_table(content: Content, name: str, frame: pl.DataFrame, roles: Roles) -> None:
    """Add a table to a page.

    Columns that are empty, have too many different texts, or have values other than numbers, texts
    and truth values, are left out. A table without rows is not added.
    """
    if not frame.is_empty():
        content.tables.append(entry_of(content.blobs, name, frame, roles))


def entry_of(
    blobs: Blobs, name: str, frame: pl.DataFrame, roles: Roles, exact: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the entry of a table on a page: its title, its columns and their roles.

    Columns in `exact` are in double precision, however many rows there are.
    """
    columns = [
        entry
        for column in frame.get_columns()
        if (entry := _column(blobs, column, roles, exact=column.name in exact)) is not None
    ]
    names = [column["name"] for column in columns]
    varying = [name for name in names if frame[name].n_unique() > 1]
    shown = [column for column in roles.shown if column in varying] or varying[:8] or names[:8]
    return {
        "name": name,
        "title": roles.title,
        "rows": frame.height,
        "columns": columns,
        "label": roles.label if roles.label in names else None,
        "colour": roles.colour if roles.colour in names else None,
        "shown": shown,
        "clusters": _clusters(frame, columns),
        "competitor": roles.competitor if roles.competitor in varying else None,
        "there": roles.there,
        "isPartial": roles.is_partial,
        "samples": roles.samples,
        "note": roles.note,
    }


def _column(blobs: Blobs, column: pl.Series, roles: Roles, *, exact: bool) -> dict[str, Any] | None:
    name = column.name
    if column.null_count() == len(column):
        return None
    facts: dict[str, Any] = {
        "name": name,
        "unit": roles.units.get(name, unit_of(name)),
        "about": roles.about.get(name, ""),
        "group": roles.groups.get(name, ""),
    }
    if column.dtype.is_numeric():
        role = "factor" if name in roles.factors else "response"
        role = "name" if name in roles.numbers else role
        facts["whole"] = column.dtype.is_integer()
        return (
            facts | {"role": role} | blobs.numbers(column.cast(pl.Float64).to_numpy(), exact=exact)
        )
    if column.dtype not in (pl.String, pl.Boolean, pl.Categorical, pl.Enum):
        return None
    text = column.cast(pl.String).fill_null("none")
    categories = text.unique().sort()
    if levels := [str(level) for level in roles.factors.get(name, ())]:
        present = set(categories)
        known = [level for level in levels if level in present]
        others = [name for name in categories if name not in set(levels)]
        categories = pl.Series([*known, *others])
    if len(categories) > MOST_CATEGORIES:
        return None
    codes = text.replace_strict(categories, pl.int_range(len(categories), eager=True))
    role = "factor" if name in roles.factors else "name"
    return facts | {"role": role, "categories": categories.to_list()} | blobs.codes(codes)


def _clusters(frame: pl.DataFrame, columns: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return a clustering of the rows by metrics that vary and have a finite value in each row.

    At most 30 metrics are used. Return None for fewer than 3 or more than 400 rows, or for fewer
    than two such metrics.
    """
    names = [column["name"] for column in columns if column["role"] == "response"]
    if not 3 <= frame.height <= MOST_CLUSTERED:
        return None
    table = frame.select(pl.col(names).cast(pl.Float64))
    whole = [name for name in names if np.isfinite(table[name].to_numpy()).all()]
    varying = [name for name in whole if table[name].n_unique() > 1][:MOST_COLUMNS]
    if len(varying) < 2:
        return None
    merges = dendrogram(table.select(varying).to_numpy()).merges
    return {
        "rows": list(range(frame.height)),
        "columns": varying,
        "order": hierarchy.leaves_list(merges).tolist(),
        "merges": [[int(first), int(other), float(height)] for first, other, height, _ in merges],
    }


def add_series(
    content: Content,
    table: str,
    times_s: np.ndarray,
    measures: Sequence[Measure],
    shown: Sequence[str],
    lost: str = "",
    note: str = "",
) -> None:
    """Add curves to a page's table, one for each row and metric.

    `shown` are the metrics to show at first, and `lost` the metric of losses, if any. `note` is a
    text for the user. If there are more than `MOST_SAMPLES` samples, only one of several times is
    used. Metrics without values are left out. With fewer than two times, nothing is added.
    """
    known = [measure for measure in measures if np.isfinite(measure.values).any()]
    if not known or len(times_s) < 2:
        return
    total = sum(measure.values.size for measure in known)
    each = -(-total // MOST_SAMPLES)
    if each > 1:
        note = f"{note} Curves show one sample of {each}.".strip()
    names = [measure.name for measure in known]
    content.series.append(
        {
            "table": table,
            "times": content.blobs.numbers(times_s[::each]),
            "elements": known[0].values.shape[0],
            "measures": [
                {"name": measure.name, "unit": measure.unit, "about": measure.about}
                | content.blobs.samples(measure.values[:, ::each].ravel())
                for measure in known
            ],
            "shown": [name for name in shown if name in names],
            "lost": lost if lost in names else "",
            "note": note,
        }
    )


def spans(lost: np.ndarray, times_s: np.ndarray, count: str) -> dict[str, pl.Series]:
    """Return columns with the times of the first and last loss, and the number of lossy samples.

    `lost` is an array of losses, with a row per element, such as a link, and a column per time in
    `times_s`. `count` is the name of the column with the number of samples.
    """
    losing = np.nan_to_num(lost) > 0
    any_ = losing.any(1)
    last = losing.shape[1] - 1 - losing[:, ::-1].argmax(1)
    first_s = np.where(any_, times_s[losing.argmax(1)], np.nan)
    last_s = np.where(any_, times_s[last], np.nan)
    return {
        "first_drop_s": pl.Series(first_s, nan_to_null=True),
        "last_drop_s": pl.Series(last_s, nan_to_null=True),
        count: pl.Series(losing.sum(1).astype(np.int64)),
    }


def add_network(
    content: Content,
    table: str,
    places: Mapping[str, Place],
    links: Sequence[tuple[str, str]],
    tiers: Mapping[str, int] | None = None,
) -> None:
    """Add the picture of a network to a page: positions of nodes, and the two ends of each link.

    Rows of `table` are the nodes in `tiers` (0 for the backbone) or, without `tiers`, the links.
    """
    number = {name: at for at, name in enumerate(places if tiers is None else tiers)}
    nodes = [
        {"name": name, "x": places[name][0], "y": places[name][1]}
        | ({"tier": 0, "row": None} if tiers is None else {"tier": tiers[name], "row": at})
        for name, at in number.items()
    ]
    ends = [
        {"from": number[start], "to": number[other], "row": at if tiers is None else None}
        for at, (start, other) in enumerate(links)
    ]
    content.networks.append({"table": table, "nodes": nodes, "links": ends})


def add_relation(content: Content, table: str, to: str, pairs: Sequence[tuple[int, int]]) -> None:
    """Relate rows of two tables, so that the page selects related rows together.

    `pairs` are row numbers in `table` and in `to`. Unless both tables are on the page, nothing is
    added.
    """
    names = {entry["name"] for entry in content.tables}
    if not pairs or not {table, to} <= names:
        return
    rows, others = np.array(sorted(set(pairs))).T
    content.relations.append(
        {"table": table, "to": to}
        | {"rows": content.blobs.numbers(rows, exact=True)}
        | {"others": content.blobs.numbers(others, exact=True)}
    )


def held(
    seconds: np.ndarray, values: np.ndarray, times_s: np.ndarray, beyond_s: float = 0.0
) -> np.ndarray:
    """Return the latest value at each of `times_s`; `seconds` are the times of `values`.

    The result is NaN before the first value, and more than `beyond_s` seconds after the last.
    """
    latest = np.searchsorted(seconds, times_s, side="right") - 1
    known = (latest >= 0) & (times_s <= seconds[-1] + beyond_s)
    return np.where(known, values[np.maximum(latest, 0)], np.nan)


def matrix(
    frame: pl.DataFrame, key: str, elements: Sequence[str], times: pl.Series, columns: Sequence[str]
) -> dict[str, np.ndarray]:
    """Return columns of samples as arrays of shape elements x times.

    Each row of `frame` is a sample of the element that its column `key` names, at the time `t_s`,
    which must be one of `times`. Samples of elements not in `elements` are ignored; missing samples
    are NaN. Raise an error if there is no sample of any element.
    """
    places = {name: at for at, name in enumerate(elements)}
    rows = frame[key].replace_strict(places, default=-1, return_dtype=pl.Int64).to_numpy()
    at = times.search_sorted(frame["t_s"]).to_numpy()
    if (rows < 0).all():
        raise LonghaulError(f"no samples of {', '.join(elements[:3])}")
    wanted = rows >= 0
    matrices = {}
    for column in columns:
        values = np.full((len(elements), len(times)), np.nan)
        values[rows[wanted], at[wanted]] = frame[column].cast(pl.Float64).to_numpy()[wanted]
        matrices[column] = values
    return matrices
