"""Analyses of relations between responses."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from longhaul.analysis import components, correlation
from longhaul.analysis.table import REPLICATION, ResponseTable, TableError
from longhaul.findings.labels import codes, factor_label, label
from longhaul.findings.registry import Findings, Options, drawn_by, matrix, named

# Number of groups into which the scores of runs are divided.
SCORE_GROUPS = 3
# Maximum p-value of a factor in a group's name.
EVIDENT = 0.01
# A level is part of a group's name if at least this fraction of its runs have the level; and
# maximum number of levels in a name.
MOST = 0.75
NAMED_CAUSES = 2
# Thresholds of |r| for correlations gained or lost against another campaign (NIST SP 500-282, C.3).
STRONG = (0.95, 0.9)


@named(
    "correlations", "correlated pairs of responses and the groups that they form",
    takes=("threshold", "against"),
)  # fmt: skip
def _correlations(table: ResponseTable, options: Options) -> Findings:
    names, values = matrix(table, options)
    r = correlation.correlations(values)
    findings = Findings()
    listed = [(names[p.first], names[p.second], p.r) for p in correlation.pairs(r)]
    findings.add("pairs", ("first", "second", "r"), listed)
    groups = [
        (", ".join(names[i] for i in g.members), g.correlated, g.possible)
        for g in correlation.groups(r, options.threshold)
    ]
    findings.add(f"groups at |r| > {options.threshold:g}", ("responses", "pairs", "of"), groups)
    strength = correlation.mean_strength(r) if len(names) > 1 else np.zeros(1)
    order = correlation.by_strength(r) if len(names) > 1 else [0]
    findings.add("mean |r| with the others", ("response", "mean |r|"),
              [(names[i], float(strength[i])) for i in order])  # fmt: skip
    if options.against is not None:
        before = correlation.correlations(
            np.stack([options.against.values(name) for name in names], axis=1)
        )
        changed: list[tuple[Any, ...]] = []
        for limit in STRONG:
            gained, lost = correlation.gained_and_lost(before, r, limit)
            changed += [(limit, "gained", names[i], names[j]) for i, j in gained]
            changed += [(limit, "lost", names[i], names[j]) for i, j in lost]
        findings.add("against the other campaign", ("|r| at least", "", "first", "second"), changed)
    short, lines = codes(names, table.places)
    for name, plot, *given in (
        ("matrix", "correlation_matrix", short, lines),
        ("histogram", "correlation_histogram", options.threshold),
        ("index", "index_plot", short, options.threshold, lines),
    ):
        findings.plots[f"correlation-{name}"] = drawn_by(f"correlations.{plot}", values, *given)
    return findings


@named(
    "components", "principal components, and what the groups of their scores have in common",
    takes=("of",),
)  # fmt: skip
def _components(table: ResponseTable, options: Options) -> Findings:
    # Runs in which some flow group transferred nothing lack the group's goodput, and have no
    # scores.
    table, left_out = table.with_all(options.responses)
    names, values = matrix(table, options)
    if len(names) < 2 or len(values) < 3:
        raise TableError(
            f"components: expected at least two responses that vary and three runs, "
            f"found {', '.join(names)} in {len(values)} runs"
        )
    pc = components.principal_components(values)
    findings = Findings(scores=_with_factors(table, pc))
    shown = range(min(4, len(pc.weights)))
    shares = zip(pc.variance_shares, pc.deviation_shares, pc.deviations, strict=True)
    rows = [
        (f"PC{k + 1}", 100 * v, 100 * float(pc.variance_shares[: k + 1].sum()), 100 * d, s)
        for k, (v, d, s) in enumerate(shares)
    ]
    findings.add(
        "shares",
        ("component", "% of variance", "cumulative", "% of deviations", "deviation"),
        rows,
        left_out,
    )
    weights = [(name, *(float(pc.weights[k, j]) for k in shown)) for j, name in enumerate(names)]
    findings.add("weights", ("response", *(f"PC{k + 1}" for k in shown)), weights)
    labels = components.score_groups(pc.scores[:, :2], SCORE_GROUPS)
    columns = {f: table.frame[f].to_list() for f in options.factors or table.varying}
    causes = components.causes(labels.tolist(), columns)
    common = [
        (group, int((labels == group).sum()), c.factor, c.level, 100 * c.share, c.p)
        for group, list_ in causes.items()
        for c in list_[:3]
    ]
    heads = ("group", "runs", "factor", "level", "% of the group", "p")
    findings.add("groups of scores, and the levels that they share", heads, common)
    groups = {_cluster_name(g, causes): np.flatnonzero(labels == g).tolist() for g in causes}
    clusters: dict[str, list[int]] = {}
    about = "groups of runs with similar scores, and levels that most of each share"
    if options.of:
        clusters, about = groups, factor_label(options.of)
        given = table.frame[table.require(options.of)].to_list()
        groups = {
            str(level): [i for i, own in enumerate(given) if own == level]
            for level in table.factors[options.of]
        }
    short, lines = codes(names, table.places)
    for name, *given in (
        ("weights", short, lines),
        ("shares",),
        ("distributions", values),
        ("biplot", short, groups, clusters, about, lines),
    ):
        findings.plots[f"components-{name}"] = drawn_by(f"correlations.{name}", pc, *given)
    return findings


def _with_factors(table: ResponseTable, pc: components.Components) -> pl.DataFrame:
    """Return a table with a row per run: replication, levels of factors, and component scores.

    `PC1` is the principal component with the largest variance.
    """
    numbered = [REPLICATION] if REPLICATION in table.frame.columns else []
    scores = {f"PC{k + 1}": column for k, column in enumerate(pc.scores.T)}
    return table.frame.select(*numbered, *table.factors).with_columns(
        pl.Series(name, column) for name, column in scores.items()
    )


def _cluster_name(group: int, causes: Mapping[int, Sequence[components.Cause]]) -> str:
    """Return the name of cluster `group`: its number, and the levels that most of its runs have."""
    evident = [c for c in causes[group] if c.share >= MOST and c.p < EVIDENT][:NAMED_CAUSES]
    shared = [
        f"{factor_label(c.factor)} {c.level}" + (f" ({100 * c.share:.0f} %)" if c.share < 1 else "")
        for c in evident
    ]
    return f"group {group}: {', '.join(shared) or 'no level in common'}"


@named("y-y-x", "one response against another, by the levels of each factor")
def _yyx(table: ResponseTable, options: Options) -> Findings:
    if len(options.responses) != 2:
        raise TableError("y-y-x: expected two responses: --response ONE --response OTHER")
    first, other = options.responses
    x, y = table.values(first), table.values(other)
    findings = Findings()
    rows = [("all runs", float(correlation.correlations(np.stack([x, y], axis=1))[0, 1]))]
    factors = options.factors or table.varying
    for factor in factors:
        for level in table.factors[factor]:
            inside = (table.frame[factor] == level).to_numpy()
            both = np.stack([x[inside], y[inside]], axis=1)
            rows.append((f"{factor} {level}", float(correlation.correlations(both)[0, 1])))
    findings.add(f"correlation of {first} and {other}", ("runs", "r"), rows)
    by = {factor_label(f): (table.factors[f], table.frame[f].to_list()) for f in factors}
    words = (label(table.place(first)), label(table.place(other)))
    findings.plots["y-y-x"] = drawn_by("correlations.yyx", x, y, words, by)
    return findings
