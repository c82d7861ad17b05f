"""Analyses of competitors: the levels of one factor, mostly the algorithm."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from longhaul.analysis import clusters, congestion, outliers
from longhaul.analysis.outliers import Standout
from longhaul.analysis.table import ResponseTable, TableError, equal_parts
from longhaul.findings.labels import label, words_and_unit
from longhaul.findings.registry import (
    Findings,
    Options,
    cells_of,
    chosen,
    competitors_of,
    drawn_by,
    in_signs,
    named,
    order_in_words,
    short,
    title,
)


@named(
    "clusters",
    "dendrograms of competitors by all responses, condition by condition; with --order-by RATE "
    "also the congestion class of each condition",
    takes=("of", "order_by", "classes"),
)
def _clusters(table: ResponseTable, options: Options) -> Findings:
    who = competitors_of(table, options, at_least=2)
    names = [str(level) for level in table.factors[who]]
    conditions, cells, left_out = cells_of(table, options, who)
    trees = [clusters.dendrogram(cell.T) for cell in cells]
    class_of = _classes_by(table, options, who)
    rows = [
        (
            title(condition), *letter, tree.height, int(tree.labels.max()),
            ", ".join(names[i] for i in tree.distinctive),
        )
        for condition, letter, tree in zip(conditions, class_of, trees, strict=True)
    ]  # fmt: skip
    findings = Findings()
    heads = ("condition", *(("class",) if any(class_of) else ()), "height", "clusters",
             "distinctive")  # fmt: skip
    findings.add(f"{len(names)} levels of {who}", heads, rows, left_out)
    titles, signs = short(table, conditions)
    titles = [" ".join((*letter, text)) for letter, text in zip(class_of, titles, strict=True)]
    about = f"Titles are levels of {', '.join(conditions[0])}. {signs}" if conditions[0] else ""
    if any(class_of):
        letters = {letter for (letter,) in class_of}
        known = (f"{key} {name}" for key, name in congestion.NAMES.items() if key in letters)
        meant = ", ".join(known) or "C1 is the least"
        about += f" Before them the class of congestion: {meant}."
    findings.plots["clusters"] = drawn_by("competitors.dendrograms", trees, names, titles, about)
    return findings


def _classes_by(table: ResponseTable, options: Options, who: str) -> Sequence[tuple[str, ...]]:
    """Return a tuple for each condition, which contains the condition's congestion class.

    The mean of the response `order_by` over the competitors (the levels of `who`) decides the
    class. Without `order_by`, the tuples are empty. NIST SP 500-282 shows classes in dendrograms
    (figures 6-8 and 7-4).
    """
    if options.order_by is None:
        return [()] * len(cells_of(table, options, who)[0])
    _, cells, _ = cells_of(table, replace(options, responses=(options.order_by,)), who)
    rates = [float(rate) for rate in cells[:, 0].mean(axis=1)]
    class_of, _ = _classed(options.order_by, rates, options.classes)
    return [(letter,) for letter in class_of]


@named(
    "residuals", "the competitor farthest from the mean, with Grubbs' test, for each condition",
    takes=("of", "critical", "order_by"),
)  # fmt: skip
def _residuals(table: ResponseTable, options: Options) -> Findings:
    who = competitors_of(table, options, at_least=3)
    names = table.numbered(who)
    conditions, cells, left_out = cells_of(table, options, who)
    findings = Findings()
    rule = f"outlier if G > {_limit(options, len(names))}"
    for k, response in enumerate(chosen(table, options)):
        rows = []
        for condition, values in zip(conditions, cells[:, k], strict=True):
            test = outliers.residuals(values, options.critical)
            extreme = [*names.values()][test.extreme] if test.extreme >= 0 else None
            verdict = "" if not test.is_outlier else "high" if test.largest > 0 else "low"
            rows.append(
                (title(condition), extreme, test.largest, test.percent, test.statistic, verdict)
            )
        heads = ("condition", "extreme", "residual", "% of mean", "G", "outlier")
        findings.add(f"{response}: {rule}", heads, rows, left_out)
        findings.plots[f"residuals-{response}"] = drawn_by(
            "residuals.residual_plot", cells[:, k], names, *in_signs(table, conditions),
            words_and_unit(table.place(response)), options.critical,
        )  # fmt: skip
    return findings


def _limit(options: Options, count: int) -> str:
    """Return the critical value of Grubbs' test for `count` competitors, as text."""
    if options.critical is None:
        return f"{outliers.grubbs_critical(count):.3f} (Grubbs' test, two-sided, 5 %)"
    if options.critical <= 0:
        raise TableError(f"critical: expected a number above 0, found {options.critical:g}")
    largest = outliers.largest_grubbs(count)
    never = f", which it never is: of {count} values it is at most {largest:.3f}"
    return f"{options.critical:g} (as given{never if options.critical >= largest else ''})"


# Maximum responses on a page.
MAX_RESPONSES = 50


@named(
    "standouts", "significant outliers: a matrix of conditions and responses",
    takes=("of", "critical", "min_percent", "order_by"),
)  # fmt: skip
def _standouts(table: ResponseTable, options: Options) -> Findings:
    who = competitors_of(table, options, at_least=3)
    names = table.numbered(who)
    responses = chosen(table, options)
    conditions, cells, left_out = cells_of(table, options, who)
    rule = f"Outlier if G > {_limit(options, len(names))}"
    if options.min_percent:
        rule += f" and more than {options.min_percent:g} % from the mean"
    matrix = outliers.standouts(cells, min_percent=options.min_percent, critical=options.critical)
    rows = [
        (title(condition), *(_in_words(line, list(names.values()), responses, is_high=is_high)
                             for is_high in (True, False)))
        for condition, line in zip(conditions, matrix, strict=True)
    ]  # fmt: skip
    findings = Findings()
    heads = ("condition", "high", "low")
    findings.add(f"significant outliers. {rule}", heads, rows, left_out)
    titles, signs = short(table, conditions)
    factors = ", ".join(filter(None, (*conditions[0], order_in_words(table, options))))
    pages = equal_parts(len(responses), MAX_RESPONSES)
    for number, part in enumerate(pages, start=1):
        name = f"standouts-{number}" if len(pages) > 1 else "standouts"
        findings.plots[name] = drawn_by(
            "residuals.standout_matrix", [line[part.start : part.stop] for line in matrix], names,
            titles, [_named(table, responses[k]) for k in part], f"{rule}. {signs}", factors,
        )  # fmt: skip
    return findings


def _in_words(
    line: Sequence[Standout | None], names: Sequence[str], responses: Sequence[str], *,
    is_high: bool,
) -> str:  # fmt: skip
    """Return, as text, the competitors that are outliers in one condition, each with its responses.

    `line` has an entry per response. `is_high` selects outliers above the mean, otherwise those
    below.
    """
    found: dict[int, list[str]] = {}
    for cell, response in zip(line, responses, strict=True):
        if cell is not None and cell.is_high == is_high:
            found.setdefault(cell.who, []).append(response)
    return "; ".join(f"{names[who]}: {' '.join(found[who])}" for who in sorted(found))


def _named(table: ResponseTable, response: str) -> str:
    """Return a response's name, preceded by its description if that differs."""
    words = label(table.place(response))
    return response if words == response else f"{words}  {response}"


@named("congestion", "conditions by increasing congestion, in classes", takes=("of", "classes"))
def _congestion(table: ResponseTable, options: Options) -> Findings:
    if len(options.responses) != 1:
        raise TableError("congestion: expected the response that measures it: --response RATE")
    [response] = options.responses
    table.values(response)
    frame, mean = table.frame, pl.col(response).mean()
    others = [name for name in table.factors if name != options.of]
    groups = frame.group_by(others, maintain_order=True).agg(mean) if others else frame.select(mean)
    conditions = groups.to_dicts()
    rates = [condition.pop(response) for condition in conditions]
    titles = [title(row) for row in conditions]
    class_of, bounds = _classed(response, rates, options.classes)
    findings = Findings()
    rows = [(titles[i], rates[i], class_of[i]) for i in congestion.congestion_order(rates)]
    findings.add(response, ("condition", "rate", "class"), rows)
    findings.plots["congestion"] = drawn_by(
        "competitors.congestion_bars", rates, *in_signs(table, conditions), class_of, bounds,
        label(table.place(response)),
    )  # fmt: skip
    return findings


def _classed(
    response: str, rates: Sequence[float], classes: int | None
) -> tuple[list[str], list[float]]:
    """Return the congestion class of each rate, and the bounds between the classes.

    `rates` are values of `response`. If `classes` is None, there are four classes, or fewer if
    fewer different rates are above 0. Raise an error if there are more classes than such rates.
    """
    different = len({rate for rate in rates if rate > 0})
    if classes is not None and classes > different:
        raise TableError(
            f"classes: expected at most {different}, as many as {response} has different values "
            f"above 0, found {classes}"
        )
    classes = classes or min(CLASSES, different)
    bounds = congestion.natural_bounds(rates, classes) if classes > 1 else []
    letters = congestion.class_names(len(bounds) + 1)
    return [letters[k] for k in congestion.congestion_classes(rates, bounds)], bounds


# Number of congestion classes in figures 6-5 and 7-1 of NIST SP 500-282.
CLASSES = 4
