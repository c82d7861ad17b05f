"""Analyses by name: what `longhaul analyze` does to a table of factors and responses.

Each gets a table and options, and returns tables of text and pictures that are drawn when asked
for. What is computed stands in the modules that it is from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from longhaul.analysis import (
    clusters,
    comparisons,
    components,
    congestion,
    correlation,
    effects,
    levels,
    outliers,
    ranks,
    users,
)
from longhaul.analysis.table import ResponseTable, TableError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Lines of a table that is printed; --json has all.
MAX_ROWS = 30
# Groups of scores that are looked for causes.
SCORE_GROUPS = 3


@dataclass(frozen=True)
class Options:
    """What an analysis may be told."""

    responses: tuple[str, ...] = ()
    """Which responses; all by default."""
    of: str | None = None
    """The factor whose levels compete, such as the algorithm."""
    factors: tuple[str, ...] = ()
    """Which factors; all that suit by default."""
    threshold: float = correlation.NIST_THRESHOLD
    critical: float | None = None
    min_percent: float = 0.0
    low_is_best: tuple[str, ...] = ()
    classes: int = 4


@dataclass(frozen=True)
class Text:
    """A table of text: numbers stay numbers until they are printed."""

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[Any, ...]]


@dataclass
class Findings:
    """What an analysis has found."""

    tables: list[Text] = field(default_factory=list)
    pictures: dict[str, Callable[[], "Figure"]] = field(default_factory=dict)

    def add(self, title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add a table."""
        self.tables.append(Text(title, tuple(heads), [tuple(row) for row in rows]))


@dataclass(frozen=True)
class Analysis:
    """A named analysis, and a line of help."""

    name: str
    help: str
    find: Callable[[ResponseTable, Options], Findings]


ANALYSES: dict[str, Analysis] = {}

Find = Callable[[ResponseTable, Options], Findings]


def named(name: str, help: str) -> Callable[[Find], Find]:
    """Register an analysis."""

    def register(find: Find) -> Find:
        ANALYSES[name] = Analysis(name, help, find)
        return find

    return register


def analyse(name: str, table: ResponseTable, options: Options) -> Findings:
    """Do a named analysis."""
    if name not in ANALYSES:
        raise TableError(f"no analysis is called `{name}`; there are: {', '.join(ANALYSES)}")
    return ANALYSES[name].find(table, options)


def _chosen(table: ResponseTable, options: Options) -> list[str]:
    """The responses to look at: those that are named, or all that every run has."""
    for name in options.responses:
        table.values(name)
    chosen = list(options.responses or table.complete())
    if not chosen:
        raise TableError("no response has a value in every run")
    return chosen


def _matrix(table: ResponseTable, options: Options) -> tuple[list[str], np.ndarray]:
    names = _chosen(table, options)
    return names, np.stack([table.values(name) for name in names], axis=1)


def _competitors(table: ResponseTable, options: Options) -> str:
    if options.of is None:
        raise TableError(
            f"whose levels compete? Name a factor with --of: {', '.join(table.varying)}"
        )
    return table.require(options.of)


def _title(levels_: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {level}" for name, level in levels_.items()) or "all"


def _short(levels_: Mapping[str, object]) -> str:
    """A condition where there is little room: its levels without their names."""
    return ", ".join(str(level) for level in levels_.values()) or "all"


@named("effects", "means at the levels of each factor, with intervals and shares of the variance")
def _effects(table: ResponseTable, options: Options) -> Findings:
    found = Findings()
    for response in _chosen(table, options):
        one = levels.factor_means(table, response)
        rows = []
        for of_factor in one:
            share = None if of_factor.share is None else 100 * of_factor.share
            for level, mean in zip(of_factor.levels, of_factor.means, strict=True):
                limits = (mean.low, mean.high) if np.isfinite(mean.low) else (None, None)
                rows.append((of_factor.factor, level, mean.mean, *limits, share, of_factor.p))
                share = None
        heads = ("factor", "level", "mean", "95 % from", "to", "% of variance", "p")
        found.add(response, heads, rows)
        found.pictures[f"effects-{response}"] = _draw_effects(one, response, table)
    return found


def _draw_effects(
    one: list[levels.FactorMeans], response: str, table: ResponseTable
) -> Callable[[], "Figure"]:
    def draw() -> "Figure":
        from longhaul.analysis.pictures.effects import main_effects

        return main_effects(one, response, float(table.values(response).mean()))

    return draw


@named("compare", "paired differences between the levels of a factor, with intervals")
def _compare(table: ResponseTable, options: Options) -> Findings:
    factor = _competitors(table, options)
    found = Findings()
    for response in _chosen(table, options):
        pairs = levels.compare_levels(table, factor, response)
        rows = [
            (one.first, one.second, one.difference.mean, one.difference.low, one.difference.high,
             one.difference.count)
            for one in pairs
        ]  # fmt: skip
        heads = (factor, "less", "difference", "95 % from", "to", "pairs")
        found.add(response, heads, rows)

        def draw(pairs: list[levels.Comparison] = pairs, response: str = response) -> "Figure":
            from longhaul.analysis.pictures.effects import comparisons as draw_

            return draw_(pairs, factor, response)

        found.pictures[f"compare-{response}"] = draw
    return found


@named("anova", "analysis of variance by all factors and their interactions")
def _anova(table: ResponseTable, options: Options) -> Findings:
    found = Findings()
    columns = {name: table.frame[name].to_list() for name in table.varying}
    for response in _chosen(table, options):
        sources = comparisons.anova(columns, table.values(response))
        rows = [(s.name, s.sum_of_squares, s.freedom, s.f, s.p, 100 * s.share) for s in sources]
        found.add(response, ("source", "sum of squares", "df", "F", "p", "% of total"), rows)
    return found


@named("regression", "a linear model of the factors whose levels are numbers")
def _regression(table: ResponseTable, options: Options) -> Findings:
    wanted = options.factors or table.varying
    numeric = [f for f in wanted if all(isinstance(v, int | float) for v in table.factors[f])]
    if not numeric:
        raise TableError("no factor has levels that are numbers without a unit")
    found = Findings()
    for response in _chosen(table, options):
        columns = {name: table.frame[name].to_numpy() for name in numeric}
        fit = comparisons.regression(columns, table.values(response))
        rows = [(n, c.mean, c.low, c.high) for n, c in fit.coefficients.items()]
        title = f"{response}: R^2 = {fit.r_squared:.4f}"
        found.add(title, ("term", "coefficient", "95 % from", "to"), rows)
    return found


@named("ten-step", "the ten plots of a two-level screening experiment, and the list of effects")
def _ten_step(table: ResponseTable, options: Options) -> Findings:
    from longhaul.analysis.pictures.ten_step import TEN_STEPS, Screening

    names = list(options.factors or table.two_level)
    coded = table.coded(names)
    cells = [str(row) for row in table.frame.select(list(table.factors)).rows()]
    found = Findings()
    for response in _chosen(table, options):
        given = Screening(coded, table.values(response), names, response, cells)
        rows = [
            (e.name, e.effect, e.percent, *(e.interval or (None, None)), " = ".join(e.aliases))
            for e in effects.by_size(given.effects)
        ]
        heads = ("effect", "size", "% of mean", "95 % from", "to", "aliases")
        found.add(f"{response}: mean {given.mean:.6g}", heads, rows)
        for step, draw in enumerate(TEN_STEPS.items(), start=1):
            name, picture = draw
            found.pictures[f"{step:02}-{name}-{response}"] = lambda p=picture, g=given: p(g)  # type: ignore[misc]
    return found


@named("correlations", "correlated pairs of responses and the groups that they form")
def _correlations(table: ResponseTable, options: Options) -> Findings:
    names, values = _matrix(table, options)
    r = correlation.correlations(values)
    found = Findings()
    listed = [(names[p.first], names[p.second], p.r) for p in correlation.pairs(r)]
    found.add("pairs", ("first", "second", "r"), listed)
    groups = [
        (", ".join(names[i] for i in g.members), g.correlated, g.possible)
        for g in correlation.groups(r, options.threshold)
    ]
    found.add(f"groups at |r| > {options.threshold:g}", ("responses", "pairs", "of"), groups)
    strength = correlation.mean_strength(r) if len(names) > 1 else np.zeros(1)
    order = correlation.by_strength(r) if len(names) > 1 else [0]
    found.add("mean |r| with the others", ("response", "mean |r|"),
              [(names[i], float(strength[i])) for i in order])  # fmt: skip

    def of(which: str) -> Callable[[], "Figure"]:
        def draw() -> "Figure":
            from longhaul.analysis.pictures import responses as pictures

            if which == "matrix":
                return pictures.correlation_matrix(values, names)
            if which == "histogram":
                return pictures.correlation_histogram(values, options.threshold)
            return pictures.index_plot(values, names, options.threshold)

        return draw

    for which in ("matrix", "histogram", "index"):
        found.pictures[f"correlation-{which}"] = of(which)
    return found


@named("components", "principal components, and what the groups of their scores have in common")
def _components(table: ResponseTable, options: Options) -> Findings:
    names, values = _matrix(table, options)
    if len(names) < 2 or len(values) < 3:
        raise TableError("components take at least two responses and three runs")
    pc = components.principal_components(values)
    found = Findings()
    shown = range(min(4, len(pc.weights)))
    shares = zip(pc.variance_shares, pc.deviation_shares, pc.deviations, strict=True)
    rows = [
        (f"PC{k + 1}", 100 * v, 100 * float(pc.variance_shares[: k + 1].sum()), 100 * d, s)
        for k, (v, d, s) in enumerate(shares)
    ]
    found.add(
        "shares",
        ("component", "% of variance", "cumulative", "% of deviations", "deviation"),
        rows,
    )
    weights = [(name, *(float(pc.weights[k, j]) for k in shown)) for j, name in enumerate(names)]
    found.add("weights", ("response", *(f"PC{k + 1}" for k in shown)), weights)
    labels = components.score_groups(pc.scores[:, :2], SCORE_GROUPS)
    columns = {name: table.frame[name].to_list() for name in table.varying}
    causes = [
        (group, int((labels == group).sum()), c.factor, c.level, 100 * c.share, c.p)
        for group, list_ in components.causes(labels.tolist(), columns).items()
        for c in list_[:3]
    ]
    heads = ("group", "runs", "factor", "level", "% of the group", "p")
    found.add("groups of scores, and the levels that they share", heads, causes)
    groups = {f"group {g}": np.flatnonzero(labels == g).tolist() for g in np.unique(labels)}
    if options.of:
        given = table.frame[table.require(options.of)].to_list()
        groups = {
            str(level): [i for i, one in enumerate(given) if one == level]
            for level in table.factors[options.of]
        }

    def of(which: str) -> Callable[[], "Figure"]:
        def draw() -> "Figure":
            from longhaul.analysis.pictures import responses as pictures

            if which == "weights":
                return pictures.weights(pc, names)
            return pictures.biplot(pc, names, groups)

        return draw

    found.pictures |= {f"components-{which}": of(which) for which in ("weights", "biplot")}
    return found


@named("y-y-x", "two responses over each other, by the levels of each factor")
def _yyx(table: ResponseTable, options: Options) -> Findings:
    if len(options.responses) != 2:
        raise TableError("y-y-x takes two responses: --response ONE --response OTHER")
    one, other = options.responses
    x, y = table.values(one), table.values(other)
    found = Findings()
    rows = [("all runs", float(correlation.correlations(np.stack([x, y], axis=1))[0, 1]))]
    for factor in table.varying:
        for level in table.factors[factor]:
            inside = (table.frame[factor] == level).to_numpy()
            both = np.stack([x[inside], y[inside]], axis=1)
            rows.append((f"{factor} {level}", float(correlation.correlations(both)[0, 1])))
    found.add(f"correlation of {one} and {other}", ("runs", "r"), rows)

    def draw() -> "Figure":
        from longhaul.analysis.pictures.responses import yyx

        return yyx(x, y, (one, other), {f: table.frame[f].to_list() for f in table.varying})

    found.pictures["y-y-x"] = draw
    return found


@named("ranks", "ranks of two-level factors by their effects on each response")
def _ranks(table: ResponseTable, options: Options) -> Findings:
    names = list(options.factors or table.two_level)
    coded = table.coded(names)
    rows, each = [], []
    for response in _chosen(table, options):
        y = table.values(response)
        sizes = [
            float(y[coded[:, j] > 0].mean() - y[coded[:, j] < 0].mean()) for j in range(len(names))
        ]
        each.append(ranks.factor_ranks(sizes))
        rows.append((response, *map(float, each[-1])))
    average = np.mean(each, axis=0)
    rows.append(("average", *map(float, average)))
    rows.append(("ordinal", *map(int, ranks.ordinal(average))))
    found = Findings()
    found.add("ranks, 1 the most influential", ("response", *names), rows)
    return found


@named("cube", "ranks of the conditions of three two-level factors, and changes along the edges")
def _cube(table: ResponseTable, options: Options) -> Findings:
    if len(options.factors) != 3:
        raise TableError("cube takes three factors of two levels: --factor, three times")
    coded = table.coded(options.factors)
    at = [np.all(coded == corner, axis=1) for corner in ranks.corners(3)]
    rows, each = [], []
    for response in _chosen(table, options):
        y = table.values(response)
        means = [float(y[inside].mean()) for inside in at]
        each.append(ranks.condition_ranks(means, low_is_best=response in options.low_is_best))
        rows.append((response, *map(float, each[-1])))
    average = np.mean(each, axis=0)
    rows.append(("average", *map(float, average)))
    labels = [f"C{k + 1}" for k in range(8)]
    found = Findings()
    found.add("ranks, 8 the best", ("response", *labels), rows)
    edges = ranks.cube_edges(average.tolist())
    found.add(
        "changes of the average along the edges",
        ("factor", "from", "to", "change"),
        [
            (options.factors[e.factor], labels[e.ends[0]], labels[e.ends[1]], e.change)
            for e in edges
        ],
    )
    means_ = ranks.edge_means(edges)
    found.add("means", ("factor", "change"), [(options.factors[f], m) for f, m in means_.items()])

    def draw() -> "Figure":
        from longhaul.analysis.pictures.competitors import cube

        return cube(average.tolist(), options.factors, labels)

    found.pictures["cube"] = draw
    return found


@named("clusters", "dendrograms of competitors by all responses, condition by condition")
def _clusters(table: ResponseTable, options: Options) -> Findings:
    who = _competitors(table, options)
    names = [str(level) for level in table.factors[who]]
    conditions, cells = _cells(table, options, who)
    trees = [clusters.dendrogram(cell.T) for cell in cells]
    titles = [_title(condition) for condition in conditions]
    rows = [
        (title, tree.height, int(tree.labels.max()), ", ".join(names[i] for i in tree.distinctive))
        for title, tree in zip(titles, trees, strict=True)
    ]
    found = Findings()
    heads = ("condition", "height", "clusters", "apart from the others")
    found.add(f"{len(names)} levels of {who}", heads, rows)

    def draw() -> "Figure":
        from longhaul.analysis.pictures.competitors import dendrograms

        return dendrograms(trees, names, [_short(condition) for condition in conditions])

    found.pictures["clusters"] = draw
    return found


def _cells(
    table: ResponseTable, options: Options, who: str
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Conditions, and values (condition, response, competitor) of the chosen responses."""
    conditions, cells = table.conditions(who)
    every = list(table.complete())
    return conditions, cells[:, [every.index(name) for name in _chosen(table, options)], :]


@named("residuals", "who is farthest from the mean of all, with Grubbs' test, for each condition")
def _residuals(table: ResponseTable, options: Options) -> Findings:
    who = _competitors(table, options)
    names = [str(level) for level in table.factors[who]]
    conditions, cells = _cells(table, options, who)
    found = Findings()
    for k, response in enumerate(_chosen(table, options)):
        rows = []
        for condition, values in zip(conditions, cells[:, k], strict=True):
            one = outliers.residuals(values, options.critical)
            extreme = names[one.extreme] if one.extreme >= 0 else "-1"
            verdict = "" if not one.is_outlier else "high" if one.largest > 0 else "low"
            rows.append(
                (_title(condition), extreme, one.largest, one.percent, one.statistic, verdict)
            )
        limit = options.critical or outliers.grubbs_critical(len(names))
        heads = ("condition", "extreme", "residual", "% of mean", "G", "outlier")
        found.add(f"{response}: outlier if G > {limit:.3f}", heads, rows)

        def draw(k: int = k, response: str = response) -> "Figure":
            from longhaul.analysis.pictures.competitors import residual_plot

            return residual_plot(cells[:, k], names, conditions, response, options.critical)

        found.pictures[f"residuals-{response}"] = draw
    return found


@named("standouts", "who stands out: a matrix of conditions and responses")
def _standouts(table: ResponseTable, options: Options) -> Findings:
    who = _competitors(table, options)
    names = [str(level) for level in table.factors[who]]
    responses = _chosen(table, options)
    conditions, cells = _cells(table, options, who)
    matrix = outliers.standouts(cells, min_percent=options.min_percent, critical=options.critical)
    titles = [_title(condition) for condition in conditions]
    rows = [
        (title, *("" if c is None else names[c.who] + ("+" if c.is_high else "-") for c in line))
        for title, line in zip(titles, matrix, strict=True)
    ]
    found = Findings()
    found.add("significant outliers, + high and - low", ("condition", *responses), rows)

    def draw() -> "Figure":
        from longhaul.analysis.pictures.competitors import standout_matrix

        return standout_matrix(matrix, names, [_short(c) for c in conditions], responses)

    found.pictures["standouts"] = draw
    return found


@named("congestion", "conditions by increasing congestion, in classes")
def _congestion(table: ResponseTable, options: Options) -> Findings:
    if len(options.responses) != 1:
        raise TableError("congestion takes the response that measures it: --response RATE")
    [response] = options.responses
    table.values(response)
    others = [name for name in table.factors if name != options.of]
    groups = table.frame.group_by(others, maintain_order=True).agg(pl.col(response).mean())
    rates = groups[response].to_list()
    conditions = groups.select(others).to_dicts()
    titles = [_title(row) for row in conditions]
    bounds = congestion.natural_bounds(rates, options.classes)
    class_of = congestion.congestion_classes(rates, bounds)
    found = Findings()
    rows = [(titles[i], rates[i], class_of[i] + 1) for i in congestion.congestion_order(rates)]
    found.add(response, ("condition", "rate", "class"), rows)

    def draw() -> "Figure":
        from longhaul.analysis.pictures.competitors import congestion_bars

        return congestion_bars(rates, [_short(row) for row in conditions], bounds)

    found.pictures["congestion"] = draw
    return found


@named("users", "goodput of groups of flows by algorithm: means, differences, ranks")
def _users(table: ResponseTable, options: Options) -> Findings:
    who = _competitors(table, options)
    names = [str(level) for level in table.factors[who]]
    responses = _chosen(table, options)
    conditions, cells = _cells(table, options, who)
    found = Findings()
    means = users.goodput_table(cells)
    rows = [(name, *map(float, row)) for name, row in zip(responses, means, strict=True)]
    found.add("means over conditions", ("response", *names), rows)
    if len(responses) == 2:
        gaps = users.differences(means[0], means[1])
        found.add(
            f"differences, in percent of the larger: {responses[0]} and {responses[1]}",
            ("among the first", "among the second", "first over second"),
            [tuple(100 * x for x in (gaps.among_first, gaps.among_second, gaps.first_over_second))],
        )
    ranked = ranks.goodput_ranks(cells)
    whole = ranks.summarise_ranks({name: ranked[:, k] for k, name in enumerate(responses)})
    rows = [(name, *map(float, row)) for name, row in whole.groups.items()]
    rows += [("average", *map(float, whole.average)), ("deviation", *map(float, whole.spread))]
    found.add(f"average ranks, {len(names)} the best", ("response", *names), rows)
    titles = [_short(condition) for condition in conditions]

    def matrix(k: int) -> Callable[[], "Figure"]:
        def draw() -> "Figure":
            from longhaul.analysis.pictures.competitors import rank_matrix

            return rank_matrix(cells, k, names[k], titles, responses)

        return draw

    def other(which: str) -> Callable[[], "Figure"]:
        def draw() -> "Figure":
            from longhaul.analysis.pictures import competitors as pictures

            if which == "ranks":
                return pictures.rank_spread(whole, names)
            if which == "differences":
                return pictures.difference_bars(
                    cells[:, 0], cells[:, 1], names, titles, responses[0]
                )
            return pictures.goodput_bars(
                {"all conditions": (means[0], means[1])}, names, responses[0]
            )

        return draw

    found.pictures["users-ranks"] = other("ranks")
    if len(responses) == 2:
        found.pictures |= {f"users-{which}": other(which) for which in ("differences", "bars")}
        for k, name in enumerate(names):
            found.pictures[f"users-scatter-{name}"] = _scatter(cells, k, name, responses[0])
    found.pictures |= {f"users-matrix-{name}": matrix(k) for k, name in enumerate(names)}
    return found


def _scatter(cells: np.ndarray, k: int, name: str, unit: str) -> Callable[[], "Figure"]:
    def draw() -> "Figure":
        from longhaul.analysis.pictures.competitors import goodput_scatter

        return goodput_scatter(cells[:, 0, k], cells[:, 1, k], name, unit)

    return draw
