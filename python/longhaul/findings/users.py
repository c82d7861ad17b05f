"""Analysis of users' goodput: groups of flows, and the flows that compete with them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from longhaul.analysis import ranks, users
from longhaul.analysis.table import ResponseTable, TableError
from longhaul.findings.labels import label, words_and_unit
from longhaul.findings.registry import (
    Findings,
    Options,
    cells_of,
    chosen,
    competitors_of,
    named,
    order_in_words,
    short,
)
from longhaul.mesonet import groups

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from longhaul.plots.analysis.users import Pair

# Names of the flows of each role.
ROLES = {
    "alternate": "the alternate's own flows",
    "standard": "flows with standard TCP beside the alternate",
}
# A space at which a line does not break.
UNBROKEN = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Goodputs:
    """Goodput of user flows by condition, response and competitor, with the names of all three."""

    names: Mapping[int, str]
    conditions: Sequence[str]
    factors: str
    """Names of the factors that define a condition."""
    signs: str
    """Legend of the signs - and + in the names of conditions."""
    responses: Sequence[str]
    """Names of responses; more than two are sorted by statistic, role and flow group number.

    The role is `alternate`, for flows with the algorithm under test, or `standard`. Responses
    without a flow group come first.
    """
    cells: np.ndarray
    """Goodputs; shape: conditions x responses x competitors."""
    missing: Sequence[str]
    """Names of responses that are left out because some run lacks them."""
    order: str
    """Order of the conditions in words; empty if the user chose none."""

    def blocks(self) -> dict[tuple[str, str], list[int]]:
        """Return the indices of responses by (statistic, role of flows), parsed from their names.

        The key is `("", "")` for responses that do not belong to a flow group.
        """
        found: dict[tuple[str, str], list[int]] = {}
        for k, name in enumerate(self.responses):
            group = groups.parts_of(name)
            found.setdefault((group.statistic, group.role) if group else ("", ""), []).append(k)
        return found

    def pairs(self) -> dict[str, tuple[int, int]]:
        """Return the pairs of responses to compare, as indices of `responses`, by the pair's name.

        A pair's first response is that of the competitor's own flows, its second that of the flows
        competing with them. A flow group has a pair for each statistic with both responses. If no
        flow group has a pair, but there are exactly two responses, these are the only pair.
        """
        at = {name: k for k, name in enumerate(self.responses)}
        several = len({statistic for statistic, _ in self.blocks()}) > 1
        found = {
            groups.short_name(name) + several * f" {_statistic(name)}": (own, at[beside])
            for name, own in at.items()
            if groups.parts_of(name)
            and (beside := name.replace("_alternate_", "_standard_")) in at
            and beside != name
        }
        return found or ({"": (0, 1)} if len(at) == 2 else {})


@named(
    "users", "means and ranks by competitor; a second response is that of the flows beside it",
    takes=("of", "order_by"),
)  # fmt: skip
def _users(table: ResponseTable, options: Options) -> Findings:
    who = competitors_of(table, options)
    findings = Findings()
    table.matching(options.responses)
    # In a short run, groups of users may have no flows.
    empty = [response for response in options.responses if response not in table.complete()]
    if empty and len(empty) < len(options.responses):
        runs = [(name, table.without(name)) for name in empty]
        findings.add("left out: not every run has a value", ("response", "runs without"), runs)
        kept = tuple(response for response in options.responses if response not in empty)
        options = replace(options, responses=kept)
    responses = chosen(table, options)
    # Two responses stay in order: own flows first.
    responses = sorted(responses, key=_place) if len(responses) > 2 else responses
    options = replace(options, responses=tuple(responses))
    conditions, cells, left_out = cells_of(table, options, who)
    titles, signs = short(table, conditions)
    given = Goodputs(
        table.numbered(who), titles, ", ".join(conditions[0]), signs, options.responses, cells,
        sorted(empty, key=_place), order_in_words(table, options),
    )  # fmt: skip
    _require_one_unit(given)
    means = users.goodput_table(cells)
    heads = ("response", *given.names.values())
    rows = _rows(zip(given.responses, means, strict=True))
    findings.add("means over conditions", heads, rows, left_out)
    _differences(given, means, findings)
    summary = _ranks(given, heads, findings)
    findings.plots["users-ranks"] = partial(_spread, given, summary)
    findings.plots |= dict(_plots_of_pairs(given, means))
    findings.plots |= dict(_matrices(given))
    return findings


def _place(response: str) -> tuple[str, str, int]:
    """Return the sort key of a response: statistic, role, and number of the flow group."""
    group = groups.parts_of(response)
    return (group.statistic, group.role, int(response.rpartition("_")[2])) if group else ("", "", 0)


def _rows(named_: Iterable[tuple[str, np.ndarray]]) -> list[tuple[Any, ...]]:
    return [(name, *map(float, row)) for name, row in named_]


def _require_one_unit(given: Goodputs) -> None:
    """Raise an error if the two responses of a pair have different units."""
    for pair in given.pairs().values():
        units = {given.responses[k]: words_and_unit(given.responses[k])[1] for k in pair}
        if len(set(filter(None, units.values()))) > 1:
            found = " and ".join(f"{name} ({unit})" for name, unit in units.items())
            raise TableError(
                "users: of two responses the second is that of the flows beside the first: "
                f"expected one unit, found {found}"
            )


def _differences(given: Goodputs, means: np.ndarray, findings: Findings) -> None:
    """Add a table of goodput differences to `findings` (NIST SP 500-282, table 8-30)."""
    rows = []
    for name, (first, second) in given.pairs().items():
        gaps = users.differences(means[first], means[second])
        parts = (gaps.among_first, gaps.among_second, gaps.first_over_second)
        rows.append((name or given.responses[first], *(100 * part for part in parts)))
    if rows:
        findings.add(
            "differences, in percent: own flows and those beside them",
            ("flows", "among own", "among those beside", "own over those beside"),
            rows,
            note="among flows: range in percent of the largest; own over those beside: in percent "
            "of the own mean",
        )


def _statistic(response: str) -> str:
    """Return the description of a response's statistic, without the flow group or period."""
    return words_and_unit(response)[0].partition(",")[0]


def _ranks(given: Goodputs, heads: Sequence[str], findings: Findings) -> ranks.RankSummary:
    """Add the competitors' average ranks to `findings`, and return a summary of the ranks.

    Ranks are averaged over conditions. For flow groups, they are also averaged over all groups with
    equal statistic, role (own or competing flows) and type of file, as in NIST SP 500-282, tables
    8-31, 8-32 and 9-13. `heads` are the heads of the tables' columns.
    """
    ranked = ranks.value_ranks(given.cells)
    each = {name: ranked[:, k] for k, name in enumerate(given.responses)}
    types: dict[str, list[np.ndarray]] = {}
    for name, of_response in each.items():
        group = groups.parts_of(name)
        of = f"{_statistic(name)}, {group.role}, {group.file}" if group else name
        types.setdefault(of, []).append(of_response)
    text = f"average ranks, {len(given.names)} the highest"
    if len(types) < len(each):
        findings.add(text, heads, _rows(ranks.summarise_ranks(each).groups.items()))
        text, heads = f"{text}, by role and type of file", ("flows", *heads[1:])
    summary = ranks.summarise_ranks(types)
    whole = {"average": summary.average, "deviation": summary.spread}
    findings.add(text, heads, _rows([*summary.groups.items(), *whole.items()]))
    return summary


def _left_out(given: Goodputs, role: str = "", file: str = "") -> str:
    """Return a note on the flows that are not in a plot because some runs lack them.

    The note is restricted to flows with this `role` and type of `file` if these are given. The note
    is empty if a plot has all flows.
    """
    names: dict[str, list[str]] = {}
    for name in given.missing:
        group = groups.parts_of(name)
        if group is None or (role in ("", group.role) and file in ("", group.file)):
            whose = f"{group.role} " if group and not role else ""
            names.setdefault(whose, []).append(groups.short_name(name).replace(" ", UNBROKEN))
    texts = [f"{whose}{', '.join(of_role)}" for whose, of_role in names.items()]
    return f"Left out, since not every run has such flows: {'; '.join(texts)}." if texts else ""


def _spread(given: Goodputs, summary: ranks.RankSummary) -> "Figure":
    from longhaul.plots.analysis.users import rank_spread

    words = list(dict.fromkeys(map(_statistic, given.responses)))
    text = f"Ranks by {', '.join(words) if len(words) < 4 else f'{len(words)} responses'}"
    over = "one for each response"
    if len(summary.groups) < len(given.responses):
        by_type = "; ".join(name.partition(", ")[2] for name in summary.groups)
        over = f"by role and type of file ({by_type})"
    return rank_spread(summary, given.names, text, over, _left_out(given))


def _plots_of_pairs(
    given: Goodputs, means: np.ndarray
) -> Iterator[tuple[str, Callable[[], "Figure"]]]:
    """Yield named plots of pairs of responses: own flows, and the flows competing with them.

    Bars are drawn for all pairs; differences and scatter plots only if there is a single pair.
    """
    pairs = given.pairs()
    if len(pairs) == 1:
        ((name, pair),) = pairs.items()
        yield "users-differences", partial(_difference_bars, given, name, *pair)
        yield "users-scatter", partial(_scatter, given, name, *pair)
    by_file: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}
    for name, pair in pairs.items():
        group = groups.parts_of(given.responses[pair[0]])
        of = (group.file, group.statistic) if group else ("", "")
        by_file.setdefault(of, {})[name] = pair
    for (file, statistic), of_file in by_file.items():
        parts = [file.replace(" ", "-")] * (len(pairs) > 1)
        parts += [statistic] * (len({statistic for _, statistic in by_file}) > 1)
        yield "-".join(["users-bars", *parts]), partial(_bars, given, means, file, of_file)


def _pair(given: Goodputs, text: str, first: int, second: int, left_out: str = "") -> "Pair":
    from longhaul.plots.analysis.users import Pair

    own, others = given.responses[first], given.responses[second]
    words, unit = words_and_unit(own)
    if groups.parts_of(own):
        text = f"{_statistic(own).capitalize()}: {text}"
        return Pair(text, "goodput", unit, ROLES["alternate"], ROLES["standard"], left_out)
    both = (words, words_and_unit(others)[0])
    return Pair(" and ".join(dict.fromkeys(both)), "value", unit, *both)


def _difference_bars(given: Goodputs, name: str, first: int, second: int) -> "Figure":
    from longhaul.plots.analysis.users import difference_bars

    notes = [f"Titles are levels of {given.factors}.", given.signs]
    if given.order:
        notes.insert(0, f"Conditions are ordered {given.order}.")
    return difference_bars(
        given.cells[:, first], given.cells[:, second], given.names, given.conditions,
        _pair(given, name, first, second), " ".join(notes),
    )  # fmt: skip


def _scatter(given: Goodputs, name: str, first: int, second: int) -> "Figure":
    from longhaul.plots.analysis.users import goodput_scatter

    own, others = given.cells[:, first], given.cells[:, second]
    return goodput_scatter(own, others, given.names, _pair(given, name, first, second))


def _bars(
    given: Goodputs, means: np.ndarray, file: str, pairs: Mapping[str, tuple[int, int]]
) -> "Figure":
    from longhaul.plots.analysis.users import Bars, goodput_bars

    bars = []
    for name, (first, second) in pairs.items():
        group = groups.parts_of(given.responses[first])
        is_mean = group is not None and group.statistic == "mean"
        speed = groups.INTERFACE_PPS[group.interface] if group and is_mean else None
        bars.append(Bars(name.partition(" ")[2], means[first], means[second], speed))
    pair = _pair(
        given, f"{file}, mean over conditions", *next(iter(pairs.values())),
        _left_out(given, file=file) if file else "",
    )  # fmt: skip
    return goodput_bars(bars, given.names, pair)


def _matrices(given: Goodputs) -> Iterator[tuple[str, Callable[[], "Figure"]]]:
    """Yield named plots of ranks: one per competitor, statistic, and role of flows (`ROLES`)."""
    blocks = given.blocks()
    statistics = {statistic for statistic, _ in blocks}
    for (k, name), (statistic, role) in product(enumerate(given.names.values()), blocks):
        parts = [role] * (len(blocks) > 1) + [statistic] * (len(statistics) > 1)
        text = "-".join(["users-matrix", name, *filter(None, parts)])
        yield text, partial(_matrix, given, k, role, blocks[statistic, role])


def _matrix(given: Goodputs, k: int, role: str, places: Sequence[int]) -> "Figure":
    from longhaul.plots.analysis.users import rank_matrix

    name = list(given.names.values())[k]
    responses = [given.responses[place] for place in places]
    text, letters, columns = f"{name}: ranks of values", "", list(map(label, responses))
    if role:
        text = f"{name}: ranks by {_statistic(responses[0])} of {ROLES[role]}"
        letters, columns = groups.LETTERS, list(map(groups.short_name, responses))
    return rank_matrix(
        given.cells[:, places], k, text, given.conditions, columns,
        [letters, _left_out(given, role), given.signs],
        ", ".join(filter(None, (given.factors, given.order))),
    )  # fmt: skip
