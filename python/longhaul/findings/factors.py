"""Analyses of factors: their importance, and the size of their effects."""

from functools import partial

import numpy as np

from longhaul.analysis import cells, comparisons, effects, levels, ranks, variance
from longhaul.analysis.comparisons import over_replications
from longhaul.analysis.table import ResponseTable, TableError
from longhaul.designs.properties import correlated
from longhaul.findings.labels import factor_label, label
from longhaul.findings.registry import (
    Findings,
    Options,
    chosen,
    competitors_of,
    drawn_by,
    named,
    title,
    with_ends,
)

# Maximum panels of a plot of cells; option `-f` selects fewer factors.
MAX_PANELS = 24


@named("effects", "means at the levels of each factor, with intervals and shares of the variance")
def _effects(table: ResponseTable, options: Options) -> Findings:
    findings = Findings()
    for response in chosen(table, options):
        factors = [
            one
            for one in levels.factor_means(table, response)
            if one.factor in (options.factors or table.factors)
        ]
        rows = []
        for of_factor in factors:
            share = None if of_factor.share is None else 100 * of_factor.share
            p = of_factor.p
            for level, mean in zip(of_factor.levels, of_factor.means, strict=True):
                rows.append((of_factor.factor, level, *with_ends(mean), share, p))
                # Share and p-value are those of the factor, and are listed only with its first
                # level.
                share = p = None
        heads = ("factor", "level", "mean", "95 % from", "to", "% of variance", "p")
        note = over_replications(mean for one in factors for mean in one.means)
        findings.add(response, heads, rows, note=note, place=table.place(response))
        grand_mean = float(table.values(response).mean())
        findings.plots[f"effects-{response}"] = drawn_by(
            "effects.main_effects", factors, label(table.place(response)), grand_mean
        )
    return findings


@named("cells", "mean of every combination of levels, or of those of -f factors, with intervals")
def _cells(table: ResponseTable, options: Options) -> Findings:
    factors = list(options.factors or table.varying)
    if not factors:
        raise TableError("expected a factor with at least two levels, found none")
    findings = Findings()
    for response in chosen(table, options):
        each = cells.cell_means(table, response, factors)
        rows = [(*cell.levels, *with_ends(cell.mean), cell.mean.count) for cell in each]
        heads = (*factors, "mean", "95 % from", "to", "replications")
        note = over_replications(cell.mean for cell in each)
        findings.add(response, heads, rows, note=note, place=table.place(response))

        if len({cell.levels[2:] for cell in each}) <= MAX_PANELS:
            levels_of = {factor_label(name): table.factors[name] for name in factors}
            findings.plots[f"cells-{response}"] = drawn_by(
                "cells.cell_lines", each, levels_of, label(table.place(response))
            )
    return findings


@named(
    "compare", "paired differences between the levels of a factor, with intervals", takes=("of",)
)
def _compare(table: ResponseTable, options: Options) -> Findings:
    factor = competitors_of(table, options, at_least=2)
    findings = Findings()
    for response in chosen(table, options):
        pairs = levels.compare_levels(table, factor, response)
        rows = [
            (pair.first, pair.second, pair.difference.mean, pair.difference.low,
             pair.difference.high, f"{pair.ahead} of {pair.conditions}")
            for pair in pairs
        ]  # fmt: skip
        heads = (factor, "less", "difference", "95 % from", "to", "ahead in conditions")
        left_out = [text for pair in pairs for text in pair.left_out]
        over = "replications" if pairs[0].is_over_replications else "conditions"
        note = f"95 % interval of the mean difference over {over}"
        findings.add(response, heads, rows, left_out, note, table.place(response))
        findings.plots[f"compare-{response}"] = drawn_by(
            "effects.comparisons", pairs, factor_label(factor), label(table.place(response))
        )
    return findings


@named("anova", "analysis of variance by all factors and their interactions")
def _anova(table: ResponseTable, options: Options) -> Findings:
    findings = Findings()
    names = options.factors or table.varying
    columns = {name: table.frame[name].to_list() for name in names}
    for response in chosen(table, options):
        sources = variance.anova(columns, table.values(response))
        rows = [(s.name, s.sum_of_squares, s.freedom, s.f, s.p, 100 * s.share) for s in sources]
        heads = ("source", "sum of squares", "df", "F", "p", "% of total")
        findings.add(response, heads, rows, place=table.place(response))
        if sources:
            findings.plots[f"anova-{response}"] = drawn_by(
                "effects.variance_shares", sources, label(table.place(response))
            )
    return findings


@named("regression", "a linear model of the factors whose levels are numbers")
def _regression(table: ResponseTable, options: Options) -> Findings:
    wanted = list(options.factors) or table.varying
    numeric = [f for f in wanted if all(isinstance(v, int | float) for v in table.factors[f])]
    if not numeric or (options.factors and numeric != wanted):
        words = ", ".join(name for name in wanted if name not in numeric)
        raise TableError(f"expected factors whose levels are numbers without a unit, found {words}")
    findings = Findings()
    for response in chosen(table, options):
        columns = {name: table.frame[name].to_numpy() for name in numeric}
        fit = comparisons.regression(columns, table.values(response))
        rows = [(n, c.mean, c.low, c.high) for n, c in fit.coefficients.items()]
        title = f"{response}: R^2 = {fit.r_squared:.4f}"
        of = label(table.place(response))
        note = f"coefficients of {of}; 95 % intervals by the residual variance"
        findings.add(title, ("term", "coefficient", "95 % from", "to"), rows, note=note)
    return findings


@named("ten-step", "the ten plots of a two-level screening experiment, and the list of effects")
def _ten_step(table: ResponseTable, options: Options) -> Findings:
    from longhaul.plots.analysis.ten_step import TEN_STEPS, Screening

    names = list(options.factors or table.two_level)
    coded = table.coded(names)
    if pairs := correlated(coded):
        first, other = (names[place] for place in pairs[0][:2])
        raise TableError(
            f"ten-step: expected a whole design of two levels, found {len(coded)} runs in which "
            f"{first} and {other} go together"
        )
    words = [factor_label(name) for name in names]
    levels_ = [(table.factors[name][0], table.factors[name][1]) for name in names]
    cells = [str(row) for row in table.frame.select(list(table.factors)).rows()]
    findings = Findings()
    for response in chosen(table, options):
        values = table.values(response)
        rows = [
            (e.name, e.effect, e.percent, *(e.interval or (None, None)), " = ".join(e.aliases))
            for e in effects.by_size(effects.effects(coded, values, names, cells=cells))
        ]
        heads = ("effect", "size", "% of mean", "95 % from", "to", "aliases")
        findings.add(f"{response}: mean {values.mean():.6g}", heads, rows)
        given = Screening(coded, values, words, label(table.place(response)), cells, levels_)
        for step, (name, picture) in enumerate(TEN_STEPS.items(), start=1):
            if name == "contours" and len(names) < 2:
                continue
            findings.plots[f"{step:02}-{name}-{response}"] = partial(picture, given)
    return findings


@named("ranks", "ranks of two-level factors by their effects on each response")
def _ranks(table: ResponseTable, options: Options) -> Findings:
    names = list(options.factors or table.two_level)
    coded = table.coded(names)
    rows, each = [], []
    for response in chosen(table, options):
        y = table.values(response)
        sizes = [
            float(y[coded[:, j] > 0].mean() - y[coded[:, j] < 0].mean()) for j in range(len(names))
        ]
        each.append(ranks.factor_ranks(sizes))
        rows.append((response, *map(float, each[-1])))
    average = np.mean(each, axis=0)
    rows.append(("average", *map(float, average)))
    rows.append(("ordinal", *map(int, ranks.ordinal(average))))
    findings = Findings()
    findings.add("ranks, 1 the most influential", ("response", *names), rows)
    return findings


@named(
    "cube", "ranks of the conditions of three two-level factors, and changes along the edges",
    takes=("low_is_best",),
)  # fmt: skip
def _cube(table: ResponseTable, options: Options) -> Findings:
    if len(options.factors) != 3:
        raise TableError("cube: expected three factors of two levels: --factor, three times")
    coded = table.coded(options.factors)
    corners = ranks.corners(3)
    at = [np.all(coded == corner, axis=1) for corner in corners]
    for corner, inside in zip(corners, at, strict=True):
        if not inside.any():
            levels_of = zip(options.factors, corner, strict=True)
            missing = title({name: table.factors[name][sign > 0] for name, sign in levels_of})
            raise TableError(f"cube: expected runs of all eight combinations, none has {missing}")
    rows, each = [], []
    responses = chosen(table, options)
    for response in responses:
        y = table.values(response)
        means = [float(y[inside].mean()) for inside in at]
        each.append(ranks.value_ranks(means, low_is_best=response in options.low_is_best))
        rows.append((response, *map(float, each[-1])))
    average = np.mean(each, axis=0)
    rows.append(("average", *map(float, average)))
    labels = [f"C{k + 1}" for k in range(8)]
    findings = Findings()
    findings.add("ranks, 8 the best", ("response", *labels), rows)
    edges = ranks.cube_edges(average.tolist())
    findings.add(
        "changes of the average along the edges",
        ("factor", "from", "to", "change"),
        [
            (options.factors[e.factor], labels[e.ends[0]], labels[e.ends[1]], e.change)
            for e in edges
        ],
    )
    means_ = ranks.edge_means(edges)
    findings.add(
        "means", ("factor", "change"), [(options.factors[f], m) for f, m in means_.items()]
    )
    words = [factor_label(name) for name in options.factors]
    levels_ = [table.factors[name] for name in options.factors]
    one = f"rank by {label(table.place(responses[0]))}"
    what = one if len(responses) == 1 else f"mean rank over {len(responses)} responses"
    findings.plots["cube"] = drawn_by(
        "effects.cube", average.tolist(), words, levels_, f"{what}; 8 is the best"
    )
    return findings
