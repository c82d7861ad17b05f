"""Responses of campaigns: metrics of runs, or values that a user's function returns for a run."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, SupportsFloat

from longhaul._engine import LonghaulError, Scenario
from longhaul.campaign.factors import refuse_unknown
from longhaul.campaign.reduce import facts
from longhaul.campaign.store import Kept
from longhaul.figures.measured import digest, measured
from longhaul.figures.registry import ROWS, RUN, SUMMARY, Figure
from longhaul.figures.words import RENAMED, of_response
from longhaul.files.names import nearest, suggestion
from longhaul.results import Results, kinds
from longhaul.results.kinds import Kind

# Tables in which a response's name without a dot is looked up, in this order.
PLACES = ("all", "links", "network", "run")
# Tables of the summary to keep of each run; a table of single flows would be large.
KEPT = ("all", "labels", "links", "proxies", "network", "classes", "long_lived")


class ResponseError(LonghaulError):
    """Error: no run has a response, or a response cannot be computed."""


@dataclass(frozen=True)
class Response:
    """A response: a column of the campaign's table."""

    name: str
    place: str = ""
    """Path of the value, such as `labels.cubic.goodput_bps` or `links.bottleneck.utilization`."""
    source: str = ""
    """Text of the user's Python file; empty if the response is not a function."""
    function: str = ""
    """Name of the user's function, which is called with the run's `Results`.

    The function returns a number, or several numbers by name. None means no value.
    """


@dataclass(frozen=True)
class Responses:
    """Function that reduces a run to its summary and the results of the user's functions."""

    responses: tuple[Response, ...]
    keep: tuple[str, ...] = ()
    """Names of tables that are stored with all rows."""

    @property
    def variant(self) -> str:
        """Hash of the definitions of all values that are stored in addition to a run's summary.

        The hash is part of the run's key in a store; it is empty if only the summary is stored.
        """
        parts = [(r.name, r.source, r.function) for r in self.responses if r.function]
        if self.figures:
            parts += [(figure.of, figure.name, digest()) for figure in self.figures]
        if not parts and not self.keep:
            return ""
        return hashlib.sha256(repr((parts, sorted(self.keep))).encode()).hexdigest()[:8]

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Metrics that responses need but summaries lack; they are computed separately."""
        found = (of_response(response.place) for response in self.responses if response.place)
        unlisted = (figure for figure in found if figure and SUMMARY not in figure.listed)
        return tuple(dict.fromkeys(unlisted))

    def __call__(self, run: Results) -> Kept:
        """Return the values of `run` that a campaign stores."""
        for table in self.keep:
            if table not in run.tables:
                end = suggestion(table, run.tables)
                raise ResponseError(f"keep: the run has no table `{table}`{end}")
        summary = run.figures()
        for owner, figure, value in measured(run, self.figures if run.is_tcp else ()):
            for row in _rows_of(summary, figure, owner):
                row[figure.name] = value
        by_user = [_measured(response, run) for response in self.responses if response.function]
        return {
            "run": facts(run.meta),
            **{name: summary[name] for name in KEPT if name in summary},
            "measured": {name: value for values in by_user for name, value in values.items()},
        }

    def row(self, kept: Kept) -> dict[str, float | None]:
        """Return the responses of a run by name, given its stored values."""
        values = {
            response.name: look_up(kept, response.place)
            for response in self.responses
            if not response.function
        }
        return {**values, **kept["measured"]}


def _rows_of(summary: Kept, figure: Figure, owner: str | None) -> list[dict[str, Any]]:
    """Return the rows of a run's summary for `owner`, the name of a label, link or proxy.

    If `figure` is a metric of the whole run, or `owner` is None, return the row of all flows.
    """
    if figure.of == RUN or owner is None:
        return [summary["all"]]
    return [row for row in summary[ROWS[figure.of]] if row[figure.of] == owner]


def _measured(response: Response, run: Results) -> dict[str, float | None]:
    """Call a user's function with a run; return its values by name of the response."""
    space: dict[str, Any] = {"__name__": "responses"}
    exec(compile(response.source, f"<{response.name}>", "exec"), space)
    value = space[response.function](run)
    values = value if isinstance(value, Mapping) else {"": value}
    return {
        f"{response.name}.{name}" if name else response.name: _number(response, each)
        for name, each in values.items()
    }


def _number(response: Response, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, SupportsFloat):
        return float(value)
    raise ResponseError(f"responses.{response.name}: expected a number, found {value!r}")


def look_up(kept: Kept, place: str) -> float | None:
    """Return the value at the path `place` in `kept`; None if the run has no such value.

    Raises ResponseError for the path of a text, an unknown path, and a former name.
    """
    steps = place.split(".")
    if steps[-1] in RENAMED:
        raise ResponseError(
            f"responses: `{place}`: `{steps[-1]}` is now called `{RENAMED[steps[-1]]}`"
        )
    tried = [[where, *steps] for where in PLACES] if len(steps) == 1 else [steps]
    for way in tried:
        exists, value = _follow(kept, way)
        if isinstance(value, str):
            raise ResponseError(f"responses: `{place}` is no number")
        if exists:
            return None if value is None else float(value)
    known = _known(kept)
    near = nearest(place, [*known, *(name.split(".")[-1] for name in known)])
    end = suggestion(place, known, "longhaul list figures", near)
    raise ResponseError(f"responses: unknown column `{place}`{end}")


def check(
    places: Sequence[str], scenarios: Sequence[Scenario], keep: Sequence[str] = ()
) -> tuple[str, ResponseError] | None:
    """Return the first of `places` without a value in the runs' results, and the error to raise.

    `places` are paths of values, such as `links.bottleneck.utilization`. Return None if the results
    will have all values. `keep` names tables to store whole; an unknown name raises an error.
    """
    kind = kinds.of(json.loads(scenarios[0].resolved_json()))
    always = ("flows", "links", "topology", "totals")
    refuse_unknown("keep: ", dict.fromkeys(keep), (*always, *kind.remedies))
    known = {**kind.without_numbers(scenarios), "run": _OF_RUN}
    for place in places:
        try:
            look_up(known, _without_row(place, known))
        except ResponseError as error:
            return place, _lacking(place, kind, known) or error
    return None


def _lacking(place: str, kind: Kind, known: Kept) -> ResponseError | None:
    """Return an error that names the optional table which `place` needs and the runs will lack.

    None if `place` needs no optional table, or if `known`, the names of the runs' metrics, has the
    metric, so that the table exists.
    """
    figure = of_response(place)
    if figure is None or not figure.needs or kind.name != kinds.CONNECTIONS:
        return None
    if any(name.rpartition(".")[2] == figure.name for name in _known(known)):
        return None
    [table] = figure.needs
    return ResponseError(f"responses: `{place}` needs the table `{table}`: {kind.remedies[table]}")


# Facts of a run with placeholders for values: 0 for numbers, empty texts.
_OF_RUN = facts(
    {
        **dict.fromkeys(("scenario_hash", "version"), ""),
        **dict.fromkeys(("results_version", "simulated_s", "measured_from_s", "data_packets"), 0),
        "machine": {"wall_s": 0},
    }
)


def _without_row(place: str, known: Kept) -> str:
    """Shorten a path `TABLE.ROW.COLUMN` to `TABLE.COLUMN`, if `known` has no names of the rows."""
    table, *steps = place.split(".")
    rows = known.get(table)
    is_open = isinstance(rows, list) and not any(
        isinstance(value, str) for row in rows for value in row.values()
    )
    return f"{table}.{steps[-1]}" if steps and is_open else place


_OLD = {new: [old] for old, new in RENAMED.items()}


def _follow(value: Any, steps: Sequence[str]) -> tuple[bool, Any]:  # noqa: ANN401
    """Return true and the value at the path `steps`, or false if there is no such value.

    A step is a key. In a list of rows, a step may also be a value in a row, such as the row's name.
    Such a step selects the row. Without it, a key is looked up in the first row.
    """
    for step in steps:
        if isinstance(value, list):
            named = [row for row in value if step in row.values()]
            if named:
                value = named
                continue
            value = value[0] if value else {}
        if not isinstance(value, Mapping):
            return False, None
        # Values that were kept before a rename have the old name.
        known = next((name for name in (step, *_OLD.get(step, ())) if name in value), None)
        if known is None:
            return False, None
        value = value[known]
    return not isinstance(value, Mapping | list), value


def _known(kept: Kept) -> list[str]:
    names = []
    for table, value in kept.items():
        rows = value if isinstance(value, list) else [value]
        for row in rows:
            texts = [v for v in row.values() if isinstance(v, str)] if table != "run" else []
            head = ".".join([table, *texts[:1]]) if isinstance(value, list) else table
            names += [f"{head}.{k}" for k, v in row.items() if not isinstance(v, str)]
    return names


def read_responses(base: Path, given: Any) -> tuple[Response, ...]:  # noqa: ANN401
    """Read the responses of a campaign file: a list of paths, or a table of names."""
    if isinstance(given, list):
        given = {place: place for place in given}
    if not given:
        raise ResponseError('responses: expected at least one, such as responses = ["goodput_bps"]')
    return tuple(_response(base, name, written) for name, written in given.items())


def _response(base: Path, name: str, written: Any) -> Response:  # noqa: ANN401
    if isinstance(written, str):
        return Response(name, place=written)
    if not isinstance(written, Mapping) or set(written) != {"python"}:
        raise ResponseError(
            f'responses.{name}: expected a column, or {{ python = "FILE:FUNCTION" }}'
        )
    file, colon, function = str(written["python"]).rpartition(":")
    if not colon:
        raise ResponseError(
            f"responses.{name}: expected FILE:FUNCTION, found {written['python']!r}"
        )
    source = (base / file).read_text(encoding="utf-8")
    try:
        compile(source, str(base / file), "exec")
    except SyntaxError as error:
        at = f"{base / file}:{error.lineno}"
        raise ResponseError(f"responses.{name}: {at}: {error.msg}") from None
    if f"def {function}(" not in source:
        raise ResponseError(f"responses.{name}: {file} has no function `{function}`")
    return Response(name, source=source, function=function)
