"""The named analysis of what users get: goodput of own flows and of those beside them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    title,
)
from longhaul.mesonet import groups

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from longhaul.plots.analysis.users import Pair

# What flows of a role are called.
ROLES = {
    "alternate": "the alternate's own flows",
    "standard": "flows with standard TCP beside the alternate",
}

# A space at which no line ends.
UNBROKEN = "\N{NO-BREAK SPACE}"
# Flow groups of a type of file, which are side by side.
PATHS_AND_INTERFACES = len(groups.PATHS) * len(groups.INTERFACES)


@dataclass(frozen=True)
class Goodputs:
    """Responses of users under each condition, and whose they are."""

    names: Mapping[int, str]
    conditions: Sequence[dict[str, Any]]
    responses: Sequence[str]
    cells: np.ndarray
    """(condition, response, competitor)"""
    missing: Sequence[str]
    """Responses that not every run has."""
    order: str
    """What conditions are ordered by."""

    @property
    def factors(self) -> str:
        """What the levels of a condition are levels of, and how conditions are ordered."""
        return f"{', '.join(self.conditions[0])}{f', {self.order}' if self.order else ''}"

    def blocks(self) -> dict[tuple[str, str], list[int]]:
        """Positions of responses by statistic and role, flow groups in their order."""
        found: dict[tuple[str, str], list[int]] = {}
        for k, name in enumerate(self.responses):
            parts = groups.parts_of(name)
            found.setdefault(parts[:2] if parts else ("", ""), []).append(k)
        return {of: sorted(places, key=self._number) for of, places in found.items()}

    def _number(self, k: int) -> int:
        name = self.responses[k]
        return int(name.rpartition("_")[2]) if groups.parts_of(name) else k

    def pairs(self) -> dict[str, tuple[int, int]]:
        """Own flows and those beside them: of each flow group, or else the two responses."""
        at = {name: k for k, name in enumerate(self.responses)}
        found = {}
        for own in sorted(at.values(), key=self._number):
            name = self.responses[own]
            beside = at.get(name.replace("_alternate_", "_standard_"), own)
            if groups.parts_of(name) and beside != own:
                found[groups.short_name(name)] = (own, beside)
        if not found and len(self.responses) == 2:
            return {words_and_unit(self.responses[0])[0]: (0, 1)}
        return found


@named("users", "means and ranks by competitor; a second response is that of flows beside it")
def _users(table: ResponseTable, options: Options) -> Findings:
    who = competitors_of(table, options)
    findings = Findings()
    # Some groups of users have no flows in a short run.
    empty = [response for response in options.responses if response not in table.complete()]
    if empty and len(empty) < len(options.responses):
        runs = [(name, table.frame[name].null_count()) for name in empty]
        findings.add("left out: not every run has a value", ("response", "runs without"), runs)
        kept = tuple(response for response in options.responses if response not in empty)
        options = replace(options, responses=kept)
    conditions, cells = cells_of(table, options, who)
    given = Goodputs(
        table.numbered(who), conditions, chosen(table, options), cells, empty,
        order_in_words(options),
    )  # fmt: skip
    _require_one_unit(given)
    means = users.goodput_table(cells)
    heads = ("response", *given.names.values())
    rows = [(name, *map(float, row)) for name, row in zip(given.responses, means, strict=True)]
    findings.add("means over conditions", heads, rows)
    _differences(given, means, findings)
    summary, over = _ranks(given, heads, findings)
    findings.plots["users-ranks"] = partial(_spread, given, summary, over)
    findings.plots |= dict(_plots_of_pairs(given, means))
    findings.plots |= dict(_matrices(given))
    return findings


def _require_one_unit(given: Goodputs) -> None:
    """Of two responses that are compared with each other."""
    for first, second in given.pairs().values():
        both = [given.responses[first], given.responses[second]]
        units = [words_and_unit(name)[1] for name in both]
        if all(units) and units[0] != units[1]:
            found = " and ".join(f"{name} ({u})" for name, u in zip(both, units, strict=True))
            raise TableError(
                f"users: of two responses the second is that of the flows beside the first: "
                f"expected one unit, found {found}"
            )


def _differences(given: Goodputs, means: np.ndarray, findings: Findings) -> None:
    """Ranges of goodputs (NIST SP 500-282, table 8-30)."""
    rows = []
    for name, (first, second) in given.pairs().items():
        gaps = users.differences(means[first], means[second])
        parts = (gaps.among_first, gaps.among_second, gaps.first_over_second)
        rows.append((name, *(100 * part for part in parts)))
    if rows:
        findings.add(
            "differences, in percent of the larger: own flows and those beside them",
            ("flows", "among own", "among those beside", "own over those beside"),
            rows,
        )


def _ranks(
    given: Goodputs, heads: Sequence[str], findings: Findings
) -> tuple[ranks.RankSummary, str]:
    """Average ranks over conditions, and what they are averages of.

    Of flow groups by role and type of file, whose deviation is that of the study (NIST SP 500-282,
    tables 8-31, 8-32 and 9-13); of other responses each.
    """
    ranked = ranks.goodput_ranks(given.cells)
    each = {name: ranked[:, k] for k, name in enumerate(given.responses)}
    types: dict[str, list[int]] = {}
    for places in given.blocks().values():
        for k in places:
            parts = groups.parts_of(given.responses[k])
            statistic = words_and_unit(given.responses[k])[0].partition(",")[0]
            name = f"{statistic}, {parts[1]}, {parts[2]}" if parts else given.responses[k]
            types.setdefault(name, []).append(k)
    text = f"average ranks, {len(given.names)} the highest"
    over = "one for each response"
    if len(types) < len(each):
        rows = [
            (name, *map(float, row)) for name, row in ranks.summarise_ranks(each).groups.items()
        ]
        findings.add(text, heads, rows)
        text, heads = f"{text}, by role and type of file", ("flows", *heads[1:])
        over = "by role and type of file"
    summary = ranks.summarise_ranks({name: ranked[:, ks] for name, ks in types.items()})
    rows = [(name, *map(float, row)) for name, row in summary.groups.items()]
    rows += [("average", *map(float, summary.average)), ("deviation", *map(float, summary.spread))]
    findings.add(text, heads, rows)
    return summary, over


def _left_out(given: Goodputs, of: tuple[str, str] | None = None, file: str = "") -> str:
    """Which groups or responses are not in a picture, since some runs lack them.

    Of the statistic and role, and type of file, that are given.
    """
    names: dict[str, list[str]] = {}
    for name in sorted(given.missing, key=lambda name: (len(name), name)):
        parts = groups.parts_of(name)
        if parts and (of not in (None, parts[:2]) or file not in ("", parts[2])):
            continue
        names.setdefault(parts[1] if parts and of is None else "", []).append(
            groups.short_name(name).replace(" ", UNBROKEN)
        )
    texts = [f"{role} {', '.join(of_role)}".strip() for role, of_role in names.items()]
    return f"Left out, since not every run has such flows: {'; '.join(texts)}." if texts else ""


def _spread(given: Goodputs, summary: ranks.RankSummary, over: str) -> "Figure":
    from longhaul.plots.analysis.users import rank_spread

    words = dict.fromkeys(words_and_unit(name)[0].partition(",")[0] for name in given.responses)
    text = f"Ranks by {', '.join(words) if len(words) < 4 else f'{len(words)} responses'}"
    if over != "one for each response":
        over = f"{over} ({'; '.join(name.partition(', ')[2] for name in summary.groups)})"
    return rank_spread(summary, given.names, text, over, _left_out(given))


def _plots_of_pairs(
    given: Goodputs, means: np.ndarray
) -> Iterator[tuple[str, Callable[[], "Figure"]]]:
    """Bars; of a single pair differences and scatter plots, too."""
    pairs = given.pairs()
    if len(pairs) == 1:
        ((name, pair),) = pairs.items()
        yield "users-differences", partial(_difference_bars, given, name, *pair)
        yield "users-scatter", partial(_scatter, given, name, *pair)
    by_file: dict[str, dict[str, tuple[int, int]]] = {}
    for name, pair in pairs.items():
        parts = groups.parts_of(given.responses[pair[0]])
        by_file.setdefault(parts[2] if parts else "", {})[name] = pair
    for file, of_file in by_file.items():
        name = f"users-bars-{file.replace(' ', '-')}" if file and len(pairs) > 1 else "users-bars"
        yield name, partial(_bars, given, means, of_file)


def _pair(given: Goodputs, text: str, first: int, second: int, left_out: str = "") -> "Pair":
    from longhaul.plots.analysis.users import Pair

    own, others = given.responses[first], given.responses[second]
    words, unit = words_and_unit(own)
    if parts := groups.parts_of(own):
        return Pair(
            f"{words.partition(',')[0].capitalize()}: {text}", "goodput", unit, ROLES[parts[1]],
            ROLES["standard" if parts[1] == "alternate" else "alternate"], left_out,
        )  # fmt: skip
    both = dict.fromkeys((words, words_and_unit(others)[0]))
    return Pair(" and ".join(both), "value", unit, words, words_and_unit(others)[0])


def _titles(given: Goodputs) -> list[str]:
    """Titles of conditions: the name of the factor, too, if it is only one."""
    in_words = title if len(given.conditions[0]) == 1 else short
    return [in_words(condition) for condition in given.conditions]


def _difference_bars(given: Goodputs, name: str, first: int, second: int) -> "Figure":
    from longhaul.plots.analysis.users import difference_bars

    titles = "" if len(given.conditions[0]) == 1 else f"Titles are levels of {given.factors}."
    order = f"Conditions are ordered {given.order}." if given.order else ""
    return difference_bars(
        given.cells[:, first], given.cells[:, second], given.names, _titles(given),
        _pair(given, name, first, second), " ".join(filter(None, (order, titles))),
    )  # fmt: skip


def _scatter(given: Goodputs, name: str, first: int, second: int) -> "Figure":
    from longhaul.plots.analysis.users import goodput_scatter

    cells = given.cells
    pair = _pair(given, name, first, second)
    return goodput_scatter(cells[:, first], cells[:, second], given.names, pair)


def _bars(given: Goodputs, means: np.ndarray, pairs: Mapping[str, tuple[int, int]]) -> "Figure":
    from longhaul.plots.analysis.users import Bars, goodput_bars

    bars = []
    for name, (first, second) in pairs.items():
        parts = groups.parts_of(given.responses[first])
        speed = groups.INTERFACE_PPS[parts[4]] if parts and parts[0] == "mean" else None
        text = "" if parts is None else name.partition(" ")[2] if len(pairs) > 1 else name
        bars.append(Bars(text, list(means[first]), list(means[second]), speed))
    pair = next(iter(pairs.values()))
    parts = groups.parts_of(given.responses[pair[0]])
    text = f"{parts[2]}, mean over conditions" if parts else "means over conditions"
    left_out = _left_out(given, file=parts[2]) if parts else ""
    return goodput_bars(
        bars, given.names, _pair(given, text, *pair, left_out), PATHS_AND_INTERFACES
    )


def _matrices(given: Goodputs) -> Iterator[tuple[str, Callable[[], "Figure"]]]:
    """A rank matrix for each competitor, and for each role of flows."""
    blocks = given.blocks()
    for (k, name), of in product(enumerate(given.names.values()), blocks):
        role = f"-{of[1]}" if len(blocks) > 1 and of[1] else ""
        statistics = {statistic for statistic, _ in blocks}
        statistic = f"-{of[0]}" if len(statistics) > 1 and of[0] else ""
        yield f"users-matrix-{name}{role}{statistic}", partial(_matrix, given, k, of, blocks[of])


def _matrix(given: Goodputs, k: int, of: tuple[str, str], places: Sequence[int]) -> "Figure":
    from longhaul.plots.analysis.users import rank_matrix

    name = list(given.names.values())[k]
    responses = [given.responses[place] for place in places]
    if of[1]:
        what = words_and_unit(responses[0])[0].partition(",")[0]
        text = f"{name}: ranks by {what} of {ROLES[of[1]]}"
        columns, letters = [groups.short_name(response) for response in responses], groups.LETTERS
    else:
        text, columns, letters = f"{name}: ranks of values", [label(name) for name in responses], ""
    notes = [letters, _left_out(given, of)]
    conditions = [short(condition) for condition in given.conditions]
    return rank_matrix(given.cells[:, places], k, text, conditions, columns, notes, given.factors)
