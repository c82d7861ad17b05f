"""Named analyses of competitors: the levels of one factor, algorithms mostly."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from longhaul.analysis import clusters, congestion, outliers, ranks, users
from longhaul.analysis.table import ResponseTable, TableError
from longhaul.findings.registry import (
    Findings,
    Options,
    cells_of,
    chosen,
    competitors_of,
    named,
    short,
    title,
)
from longhaul.mesonet.groups import short_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@named("clusters", "dendrograms of competitors by all responses, condition by condition")
def _clusters(table: ResponseTable, options: Options) -> Findings:
    who = competitors_of(table, options)
    names = [str(level) for level in table.factors[who]]
    conditions, cells = cells_of(table, options, who)
    trees = [clusters.dendrogram(cell.T) for cell in cells]
    titles = [title(condition) for condition in conditions]
    rows = [
        (title, tree.height, int(tree.labels.max()), ", ".join(names[i] for i in tree.distinctive))
        for title, tree in zip(titles, trees, strict=True)
    ]
    findings = Findings()
    heads = ("condition", "height", "clusters", "distinctive")
    findings.add(f"{len(names)} levels of {who}", heads, rows)

    def draw() -> "Figure":
        from longhaul.plots.analysis.competitors import dendrograms

        return dendrograms(trees, names, [short(condition) for condition in conditions])

    findings.plots["clusters"] = draw
    return findings


@named(
    "residuals", "which competitor is farthest from the mean, with Grubbs' test, for each condition"
)
def _residuals(table: ResponseTable, options: Options) -> Findings:
    who = _at_least_three(table, options)
    names = [str(level) for level in table.factors[who]]
    conditions, cells = cells_of(table, options, who)
    findings = Findings()
    for k, response in enumerate(chosen(table, options)):
        rows = []
        for condition, values in zip(conditions, cells[:, k], strict=True):
            test = outliers.residuals(values, options.critical)
            extreme = names[test.extreme] if test.extreme >= 0 else "-1"
            verdict = "" if not test.is_outlier else "high" if test.largest > 0 else "low"
            rows.append(
                (title(condition), extreme, test.largest, test.percent, test.statistic, verdict)
            )
        exact = options.critical is None
        limit = outliers.grubbs_critical(len(names)) if exact else options.critical
        heads = ("condition", "extreme", "residual", "% of mean", "G", "outlier")
        findings.add(f"{response}: outlier if G > {limit:.3f}", heads, rows)

        def draw(k: int = k, response: str = response) -> "Figure":
            from longhaul.plots.analysis.competitors import residual_plot

            return residual_plot(cells[:, k], names, conditions, response, options.critical)

        findings.plots[f"residuals-{response}"] = draw
    return findings


def _at_least_three(table: ResponseTable, options: Options) -> str:
    """The factor whose levels compete, of which Grubbs' test can find an outlier."""
    who = competitors_of(table, options)
    if len(table.factors[who]) < 3:
        raise TableError(f"{who}: expected three levels or more, found {len(table.factors[who])}")
    return who


@named("standouts", "significant outliers: a matrix of conditions and responses")
def _standouts(table: ResponseTable, options: Options) -> Findings:
    who = _at_least_three(table, options)
    names = [str(level) for level in table.factors[who]]
    responses = chosen(table, options)
    conditions, cells = cells_of(table, options, who)
    matrix = outliers.standouts(cells, min_percent=options.min_percent, critical=options.critical)
    titles = [title(condition) for condition in conditions]
    rows = [
        (title, *("" if c is None else names[c.who] + ("+" if c.is_high else "-") for c in line))
        for title, line in zip(titles, matrix, strict=True)
    ]
    findings = Findings()
    findings.add("significant outliers, + high and - low", ("condition", *responses), rows)

    def draw() -> "Figure":
        from longhaul.plots.analysis.competitors import standout_matrix

        return standout_matrix(matrix, names, [short(c) for c in conditions], responses)

    findings.plots["standouts"] = draw
    return findings


@named("congestion", "conditions by increasing congestion, in classes")
def _congestion(table: ResponseTable, options: Options) -> Findings:
    if len(options.responses) != 1:
        raise TableError("congestion: expected the response that measures it: --response RATE")
    [response] = options.responses
    table.values(response)
    others = [name for name in table.factors if name != options.of]
    groups = table.frame.group_by(others, maintain_order=True).agg(pl.col(response).mean())
    rates = groups[response].to_list()
    conditions = groups.select(others).to_dicts()
    titles = [title(row) for row in conditions]
    # No more classes than there are different rates.
    classes = min(options.classes, len({rate for rate in rates if rate > 0}))
    bounds = congestion.natural_bounds(rates, classes) if classes > 1 else []
    class_of = congestion.congestion_classes(rates, bounds)
    findings = Findings()
    rows = [(titles[i], rates[i], class_of[i] + 1) for i in congestion.congestion_order(rates)]
    findings.add(response, ("condition", "rate", "class"), rows)

    def draw() -> "Figure":
        from longhaul.plots.analysis.competitors import congestion_bars

        return congestion_bars(rates, [short(row) for row in conditions], bounds, response)

    findings.plots["congestion"] = draw
    return findings


@named("users", "means and ranks by competitor; a second response is that of flows beside it")
def _users(table: ResponseTable, options: Options) -> Findings:
    who = competitors_of(table, options)
    names = [str(level) for level in table.factors[who]]
    findings = Findings()
    # Some groups of users have no flows in a short run.
    empty = [response for response in options.responses if response not in table.complete()]
    if empty and len(empty) < len(options.responses):
        runs = [(name, table.frame[name].null_count()) for name in empty]
        findings.add("left out: not every run has a value", ("response", "runs without"), runs)
        kept = tuple(response for response in options.responses if response not in empty)
        options = replace(options, responses=kept)
    responses = chosen(table, options)
    conditions, cells = cells_of(table, options, who)
    means = users.goodput_table(cells)
    rows = [(name, *map(float, row)) for name, row in zip(responses, means, strict=True)]
    findings.add("means over conditions", ("response", *names), rows)
    if len(responses) == 2:
        gaps = users.differences(means[0], means[1])
        findings.add(
            f"differences, in percent of the larger: {responses[0]} and {responses[1]}",
            ("among the first", "among the second", "first over second"),
            [tuple(100 * x for x in (gaps.among_first, gaps.among_second, gaps.first_over_second))],
        )
    ranked = ranks.goodput_ranks(cells)
    whole = ranks.summarise_ranks({name: ranked[:, k] for k, name in enumerate(responses)})
    rows = [(name, *map(float, row)) for name, row in whole.groups.items()]
    rows += [("average", *map(float, whole.average)), ("deviation", *map(float, whole.spread))]
    findings.add(f"average ranks, {len(names)} the best", ("response", *names), rows)
    titles = [short(condition) for condition in conditions]
    unit = short_name(responses[0])

    def matrix(k: int) -> Callable[[], "Figure"]:
        def draw() -> "Figure":
            from longhaul.plots.analysis.competitors import rank_matrix

            return rank_matrix(
                cells, k, names[k], titles, [short_name(response) for response in responses]
            )

        return draw

    def other(which: str) -> Callable[[], "Figure"]:
        def draw() -> "Figure":
            from longhaul.plots.analysis import competitors as plots

            if which == "ranks":
                return plots.rank_spread(whole, names)
            if which == "differences":
                return plots.difference_bars(cells[:, 0], cells[:, 1], names, titles, unit)
            both = {f"{unit}, all conditions": (means[0], means[1])}
            return plots.goodput_bars(both, names, "mean")

        return draw

    findings.plots["users-ranks"] = other("ranks")
    if len(responses) == 2:
        findings.plots |= {f"users-{which}": other(which) for which in ("differences", "bars")}
        for k, name in enumerate(names):
            findings.plots[f"users-scatter-{name}"] = _scatter(cells, k, name, unit)
    findings.plots |= {f"users-matrix-{name}": matrix(k) for k, name in enumerate(names)}
    return findings


def _scatter(cells: np.ndarray, k: int, name: str, unit: str) -> Callable[[], "Figure"]:
    def draw() -> "Figure":
        from longhaul.plots.analysis.competitors import goodput_scatter

        return goodput_scatter(cells[:, 0, k], cells[:, 1, k], name, unit)

    return draw
