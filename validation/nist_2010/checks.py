"""Recomputation of every value of the report that follows from other printed values.

A computed value agrees if it equals the printed value after the same rounding. If the printed value
is an error of the report, the row describes the error.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from longhaul.analysis import correlation, effects, outliers, ranks, users
from longhaul.analysis.judging import Expected, decimals_of
from longhaul.designs import published
from longhaul.files.rows import Row as Cells
from validation.nist_2010.tables import by_first, numbers, rows
from validation.rows import Row, judged

# Responses of the 2^3 designs (cubes) in chapter 4 and appendix C; for two, low values are better.
CUBE = ("y4", "y6", "y10", "y16", "y17", "y20", "y22")
LOW_IS_BEST = {"y10", "y16"}
ALGORITHMS = ("BIC", "CTCP", "FAST", "FAST-AT", "HSTCP", "HTCP", "Scalable")
FACTORS = tuple(f"x{i}" for i in range(1, 12))


@dataclass(frozen=True)
class Check:
    """Recomputation of the values of one table or one passage of the report."""

    source: str
    what: str
    """Description of the recomputed values, for the page."""
    values: Callable[[], Iterator[Row]]
    is_printed: bool = True
    """True if the report prints the expected values.

    Otherwise, the expected values were computed from printed inputs, independently of this code.
    """


def _value(
    what: str, printed: float, computed: float, decimals: int = 0, error: str = "",
    inputs: float = 0.0,
) -> Row:  # fmt: skip
    """Return a row that compares a value printed in the report with a computed value.

    `what` names the value, which is printed with `decimals` decimals. `error` describes a known
    error of the report. `inputs` is the possible error due to the rounding of printed inputs.
    """
    band = Expected.as_printed(printed, decimals, inputs)
    return replace(judged("", what, printed, computed, band, "as printed"), error=error)


def _of_table(what: str, row: Cells, column: str, computed: float, error: str = "") -> Row:
    return _value(what, float(row[column]), computed, decimals_of(row[column]), error)


def _cube_conditions() -> Iterator[Row]:
    """Yield rows for table 4-27: the eight conditions of a 2^3 design in standard order."""
    for row, corner in zip(rows("b_table4-27_conditions"), ranks.corners(3), strict=True):
        levels = [{"M": -1, "P": 1}[level] for level in row["x1x2x3"].split(":")]
        for i in range(3):
            yield _value(f"{row['condition']} x{i + 1}", levels[i], corner[i])


def _means(table: str) -> dict[str, np.ndarray]:
    return {y: np.array([float(row[y]) for row in rows(table)]) for y in CUBE}


def _cube_effects(table: str, derived: str) -> Iterator[Row]:
    """Yield rows for effects of factors, recomputed from the means of eight conditions.

    `table` has the printed means, `derived` the printed effects.
    """
    cube = np.array(ranks.corners(3))
    for y, means in _means(table).items():
        by_name = {e.name: e for e in effects.effects(cube, means, ("x1", "x2", "x3"), order=3)}
        for row in rows(derived):
            if row["response"] == y:
                effect = by_name[row["effect"].partition(" ")[0]]
                yield _of_table(f"{y} {effect.name}", row, "value", effect.effect)
                yield _of_table(f"{y} {effect.name} %", row, "pct_of_mean", effect.percent)


def _appendix_c_effects() -> Iterator[Row]:
    cube = np.array(ranks.corners(3))
    means = _means("e_tableC-15_condition_means")
    for row in rows("e_derived_tableC-15_effects"):
        y = row["response"]
        computed = effects.effects(cube, means[y], ("x1", "x2", "x3"), order=2)
        for effect in computed:
            column = effect.name.replace("*", "")
            signed = 100.0 * effect.effect / effect.grand_mean
            yield _of_table(f"{y} {effect.name} %", row, f"{column}_pct", signed)


def _appendix_c_costs() -> Iterator[Row]:
    """Yield rows for table C-11: the design, the hours of its 64 runs, and the factors' effects."""
    design = published("nist-2to11m5")
    hours = [float(row["processor_hours"]) for row in rows("e_tableC-11_execution_time")]
    yield _value("mean of 64 runs (h)", 46.4, float(np.mean(hours)), 1)
    for run, row in enumerate(rows("e_tableC-11_execution_time")):
        for j, name in enumerate(FACTORS):
            yield _value(
                f"run {run + 1} {name}", {"-": -1, "+": 1}[row[name]], design.coded[run, j]
            )
    printed = by_first("e_derived_tableC-11_cost_effects")
    for effect in effects.effects(design.coded, hours, FACTORS, order=1):
        row = printed[effect.name]
        signed = 100.0 * effect.effect / effect.grand_mean
        yield _of_table(f"{effect.name} -", row, "mean_minus_h", effect.low)
        yield _of_table(f"{effect.name} +", row, "mean_plus_h", effect.high)
        yield _of_table(f"{effect.name} effect", row, "effect_h", effect.effect)
        yield _of_table(f"{effect.name} %", row, "effect_pct_of_mean", signed)


def _chapter_4_costs() -> Iterator[Row]:
    hours = [float(row["hours"]) for row in rows("b_table4-18_execution_time")]
    yield _value("processor hours", 537.6, float(np.sum(hours)), 1)
    yield _value("mean (h)", 8.4, float(np.mean(hours)), 1)


def _condition_ranks(means: str, printed: str, errors: dict[str, str]) -> Iterator[Row]:
    table = by_first(printed)
    computed = {}
    for y, values in _means(means).items():
        computed[y] = ranks.value_ranks(values, low_is_best=y in LOW_IS_BEST)
        for i, rank in enumerate(computed[y]):
            column = f"C{i + 1}"
            error = errors.get(f"{y} {column}", "")
            yield _value(f"{y} {column}", float(table[y][column]), float(rank), 1, error)
    average = np.mean([*computed.values()], axis=0)
    row = next(row for name, row in table.items() if name in ("average", "average_rank"))
    for i, value in enumerate(average):
        column = f"C{i + 1}"
        error = errors.get(f"average {column}", "")
        yield _of_table(f"average {column}", row, column, float(value), error)


def _chapter_4_ranks() -> Iterator[Row]:
    wrong = "the row has the rank 5 twice, and no rank 3"
    yield from _condition_ranks(
        "b_table4-28_condition_means",
        "b_table4-29_condition_ranks",
        {"y20 C3": wrong, "average C3": "follows from the error in y20"},
    )


def _appendix_c_ranks() -> Iterator[Row]:
    tie = "equal responses have different ranks"
    yield from _condition_ranks(
        "e_tableC-15_condition_means",
        "e_tableC-16_condition_ranks",
        dict.fromkeys(("y17 C1", "y17 C4", "y22 C1", "y22 C8"), tie)
        | {"average C8": "follows from the errors in y22"},
    )


def _cube_edges() -> Iterator[Row]:
    """Yield rows for table 4-30: changes of the average rank along the edges of the 2^3 design."""
    averages = numbers(by_first("b_table4-29_condition_ranks")["average_rank"])
    edges = {edge.ends: edge for edge in ranks.cube_edges(averages, digits=1)}
    for row in rows("b_table4-30_rank_changes"):
        for factor in ("x1", "x2", "x3"):
            low, high = (int(c[1:]) - 1 for c in row[f"{factor}_conditions"].split("-"))
            edge = edges[low, high]
            yield _of_table(
                f"{factor} {row[f'{factor}_conditions']}", row, f"{factor}_printed", edge.change
            )


def _appendix_c_edges() -> Iterator[Row]:
    averages = numbers(by_first("e_tableC-16_condition_ranks")["average"])
    edges = ranks.cube_edges(averages, digits=1)
    by_ends = {edge.ends: edge for edge in edges}
    for row in rows("e_tableC-17_rank_changes"):
        for i, factor in enumerate(("x1", "x2", "x3")):
            if row["edge"] == "average":
                yield _of_table(f"{factor} mean", row, factor, ranks.edge_means(edges)[i])
                continue
            low, high = (int(c[1:]) - 1 for c in row[f"{factor}_edge"].split("-"))
            yield _of_table(
                f"{factor} {row[f'{factor}_edge']}", row, factor, by_ends[low, high].change
            )


def _factor_ranks(table: str, labels: Sequence[str]) -> Iterator[Row]:
    """Yield rows that check the printed ranks of factors, and their averages, in `table`.

    `labels` names the printed row of average ranks, then that of ordinal ranks.
    """
    average_label, ordinal_label = labels
    printed = by_first(table)
    each = [numbers(row) for name, row in printed.items() if name not in labels]
    average = np.mean(each, axis=0)
    for row in each:
        # Placeholder effects with these ranks by size.
        again = ranks.factor_ranks([12.0 - rank for rank in row])
        for name, rank, value in zip(FACTORS, row, again, strict=True):
            yield _value(f"rank {name}", rank, float(value), 1)
    for name, mean, place in zip(FACTORS, average, ranks.ordinal(average), strict=True):
        yield _of_table(f"average {name}", printed[average_label], name, float(mean))
        yield _of_table(f"ordinal {name}", printed[ordinal_label], name, float(place))


def _correlation_groups() -> Iterator[Row]:
    """Yield rows that compare our groups of correlated responses with the report's groups.

    The numbers of correlated pairs in the groups are compared, too. The report prints only
    correlations of at least 0.9. Other correlations are invented, such that each group has the
    report's number of correlated pairs.
    """
    count = 22
    matrix = np.eye(count)
    strong = {
        (int(row["i"]) - 1, int(row["j"]) - 1): float(row["corr"])
        for row in rows("b_fig4-3_correlations_ge_0.9")
    }
    for row in rows("b_sec4.4_correlation_groups"):
        members = sorted(int(name[1:]) - 1 for name in row["responses"].split())
        missing = int(row["of_possible_pairs"]) - int(row["distinct_pairs"])
        weak = [(0, 10)] if 10 in members else []  # the text prints -0.5 for (y1, y11)
        inside = [(i, j) for k, i in enumerate(members) for j in members[k + 1 :]]
        free = [pair for pair in reversed(inside) if pair not in {*strong, *weak}]
        weak += free[: missing - len(weak)]
        for i, j in inside:
            matrix[i, j] = matrix[j, i] = 0.5 if (i, j) in weak else 0.7
    for (i, j), r in strong.items():
        matrix[i, j] = matrix[j, i] = r
    by_members = {frozenset(g.members): g for g in correlation.groups(matrix)}
    yield _value("groups", 7, len(by_members))
    for row in rows("b_sec4.4_correlation_groups"):
        group = by_members[frozenset(int(name[1:]) - 1 for name in row["responses"].split())]
        yield _of_table(f"pairs of {row['responses']}", row, "distinct_pairs", group.correlated)
        yield _of_table(f"of {row['responses']}", row, "of_possible_pairs", group.possible)
    listed = correlation.pairs(matrix, 0.9)
    for row, pair in zip(rows("b_fig4-3_correlations_ge_0.9"), listed, strict=True):
        yield _value(f"({row['i']}, {row['j']}) first", int(row["i"]) - 1, pair.first)
        yield _value(f"({row['i']}, {row['j']}) second", int(row["j"]) - 1, pair.second)


def _grubbs() -> Iterator[Row]:
    """Yield rows for Grubbs' test: statistics of extreme samples, and critical values.

    In these samples, all values but one or two are equal.
    """
    for count, largest in ((6, 2.041), (7, 2.268), (8, 2.475)):
        alone = outliers.residuals([1.0] + [0.0] * (count - 1))
        yield _value(f"one of {count} apart", largest, alone.statistic, 3)
    pair = outliers.residuals([1.0, 1.0] + [0.0] * 6, outliers.NIST_CRITICAL)
    yield _value("two of eight apart", 1.62, pair.statistic, 2)
    yield _value("two of eight are outliers", 0, float(pair.is_outlier))
    # Grubbs 1969, table 1: upper 5 % and 2.5 % points of one-sided tests.
    for count, five, half in ((6, 1.822, 1.887), (7, 1.938, 2.020), (8, 2.032, 2.126)):
        yield _value(f"5 % of {count}", five, outliers.grubbs_critical(count, two_sided=False), 2)
        yield _value(f"2.5 % of {count}", half, outliers.grubbs_critical(count), 2)


def _lags() -> Iterator[Row]:
    """Yield rows for table 10-1: mean latencies over the three long-lived flows."""
    errors = {
        "BIC tmax": "18.87 truncated instead of rounded",
        "H-TCP tmax": "the mean of its three flows is 22.2",
        "HSTCP trec": "the mean of its three flows is 6.1",
        "H-TCP trec": "the mean of its three flows is 9.9",
    }
    for row in rows("e_derived_table10-1_crosscheck"):
        for kind, column in (("tmax", "goodput_latency"), ("trec", "recovery_latency")):
            mean = float(np.mean([float(row[f"{kind}_{flow}"]) for flow in ("L1", "L2", "L3")]))
            known = f"{row['algorithm']} {kind}"
            yield _of_table(known, row, f"table10-1_{column}", mean, errors.get(known, ""))


def _rank_averages(table: str) -> Iterator[Row]:
    """Yield rows that recompute averages and deviations of the algorithms' ranks in `table`.

    The ranks are by the responses y2u and y16u. Deviations are printed, and recomputed, only for
    both responses together.
    """
    printed = {(row["response"], row["file"]): row for row in rows(table)}
    kinds = {key: row for key, row in printed.items() if key[1] not in ("Avg", "Std")}
    given = {key: [float(row[a]) for a in ALGORITHMS] for key, row in kinds.items()}
    for response in ("y2u", "y16u"):
        part = {f"{k}": v for (r, k), v in given.items() if r == response}
        for name, value in zip(ALGORITHMS, ranks.summarise_ranks(part).average, strict=True):
            row = printed[response, "Avg"]
            yield _value(f"{response} {name}", float(row[name]), float(value), 2, inputs=0.005)
    whole = ranks.summarise_ranks({f"{r} {k}": v for (r, k), v in given.items()})
    for name, value, spread in zip(ALGORITHMS, whole.average, whole.spread, strict=True):
        for what, figure in (("Avg", value), ("Std", spread)):
            known = float(printed["both", what][name])
            yield _value(f"{what} {name}", known, float(figure), 2, inputs=0.005)


def _rank_matrices() -> Iterator[Row]:
    """Yield rows that recompute the average ranks of H-TCP and Scalable TCP in table 8-32.

    The averages for each kind of file follow from rank matrices (figures 8-68 and 8-69).
    """
    kinds = [row["file_code"] for row in rows("d_table8-6_flow_groups")]
    printed = {(row["response"], row["file"]): row for row in rows("d_table8-32_ranks_low")}
    order = [row["condition"] for row in rows("d_fig8-1_condition_order")]
    other = "the average implies a sum of ranks that differs by {} from the printed matrix"
    errors = {"HTCP M": other.format(1), "HTCP WO": other.format(3), "Scalable M": other.format(2)}
    for name, table in (
        ("HTCP", "d_fig8-68_rank_matrix_HTCP_low"),
        ("Scalable", "d_fig8-69_rank_matrix_Scalable_low"),
    ):
        matrix = np.array([[int(row[f"g{g}"]) for g in range(1, 25)] for row in rows(table)])
        yield _value(f"{name}: rows in the order of congestion", 1,
                     float([row["condition"] for row in rows(table)] == order))  # fmt: skip
        for kind in dict.fromkeys(kinds):
            chosen = [g for g, k in enumerate(kinds) if k == kind]
            mean = ranks.summarise_ranks({kind: matrix[:, chosen].reshape(-1, 1)}).average[0]
            known = f"{name} {kind}"
            row = printed["y2u", kind]
            yield _of_table(known, row, name, float(mean), errors.get(known, ""))


GOODPUTS = {
    "ch8high": ("d_table8-26_goodput_alt_high", "d_table8-27_goodput_tcp_high"),
    "ch8low": ("d_table8-28_goodput_alt_low", "d_table8-29_goodput_tcp_low"),
    "ch9high": ("d_table9-10_goodput_alt_high", "d_table9-11_goodput_tcp_high"),
}
# Endings of the columns `calc_...` (see `_differences`), which name the denominator, by base and
# by kind of difference.
BASES = {
    "larger": {"among_alts": "over_max", "among_tcps": "over_max", "alts_gt_tcps": "over_alt"},
    "smaller": {"among_alts": "over_min", "among_tcps": "over_min", "alts_gt_tcps": "over_tcp"},
}


# Values that the report rounds up: experiment, kind of difference, and flow group.
ROUNDED_UP = {("ch9high", "among_alts", "20"), ("ch9high", "among_alts", "23")}


def _ranges(experiment: str, base: str) -> Iterator[tuple[Cells, dict[str, float]]]:
    """Yield each flow group's printed row, and its recomputed goodput differences in percent.

    The differences are the range among alternate algorithms, the range among TCP flows, and the
    difference between the means of the two. `base` selects the denominators: `larger` or `smaller`
    goodputs.
    """
    alternate, standard = GOODPUTS[experiment]
    printed = rows("d_table8-30_9-12_goodput_differences")
    for alternates, other, row in zip(rows(alternate), rows(standard), printed, strict=True):
        first, second = ([float(r[a]) for a in ALGORITHMS] for r in (alternates, other))
        differences = users.differences(first, second, base=base)
        values = (differences.among_first, differences.among_second, differences.first_over_second)
        yield row, {name: 100 * v for name, v in zip(BASES[base], values, strict=True)}


def _differences() -> Iterator[Row]:
    """Yield rows that check relative differences of goodputs in the columns `calc_...`.

    The study did not print these columns: they were computed when its table was copied.
    """
    for experiment in GOODPUTS:
        for base, columns in BASES.items():
            for row, ranges in _ranges(experiment, base):
                for name, value in ranges.items():
                    column = f"calc_{experiment}_{name}_{columns[name]}"
                    yield _of_table(f"{experiment} {name} {row['group']}", row, column, value)


def printed_differences(experiment: str, base: str) -> Iterator[Row]:
    """Yield rows for the printed goodput differences, which are rounded to whole percent.

    Absolute values are compared. Printed bounds, such as `<1`, are left out. `base` selects the
    denominators: `larger` or `smaller` goodputs (`users.differences`).
    """
    for row, ranges in _ranges(experiment, base):
        for name, value in ranges.items():
            text = row[f"pub_{experiment}_{name}"]
            if not text.startswith("<"):
                known = (experiment, name, row["group"])
                error = "rounded up, not to the nearest integer" if known in ROUNDED_UP else ""
                yield _value(
                    f"{name}, group {row['group']}", abs(float(text)), abs(value), 0, error
                )


def _completions() -> Iterator[Row]:
    """Yield rows for table 6-31: completed DD flows per interval, from time period 2's total."""
    for row in rows("c_table6-31_DD_completions_TP2_cond4"):
        total = float(row["dd_completed_TP2"])
        yield _value(row["algorithm"], float(row["dd_completions_per_interval"]), total / 1500.0, 2)


CHECKS = (
    Check("Table 4-18", "execution time of 64 runs", _chapter_4_costs),
    Check("Figure 4-3, section 4.4", "pairs and groups of correlated responses",
          _correlation_groups),
    Check("Table 4-25", "ranks of factors by effect on six responses",
          lambda: _factor_ranks("b_table4-25_rank_domain", ("average_rank", "ordinal_rank"))),
    Check("Table 4-26", "ranks of factors by effect on four principal components",
          lambda: _factor_ranks("b_table4-26_rank_pca", ("average_rank", "ordinal_rank"))),
    Check("Table 4-27", "conditions of the 2^3 design", _cube_conditions),
    Check("Table 4-28", "effects, from the condition means",
          lambda: _cube_effects("b_table4-28_condition_means",
                                "b_derived_effects_from_table4-28"), is_printed=False),
    Check("Table 4-29", "ranks of conditions on seven responses", _chapter_4_ranks),
    Check("Table 4-30", "changes of average rank when one factor changes", _cube_edges),
    Check("Table 6-31", "completed flows per interval", _completions),
    Check("Chapters 6 and 7", "Grubbs' statistics and critical values", _grubbs),
    Check("Tables 8-30, 9-12", "relative differences of goodput", _differences, is_printed=False),
    Check("Table 9-12", "relative differences, smaller goodput as 100 %",
          lambda: printed_differences("ch9high", "smaller")),
    Check("Table 8-31", "averages and deviations of algorithms' ranks",
          lambda: _rank_averages("d_table8-31_ranks_high")),
    Check("Table 8-32", "averages and deviations of algorithms' ranks",
          lambda: _rank_averages("d_table8-32_ranks_low")),
    Check("Table 8-32", "average ranks from figures 8-68 and 8-69", _rank_matrices),
    Check("Table 9-13", "averages and deviations of algorithms' ranks",
          lambda: _rank_averages("d_table9-13_ranks")),
    Check("Table 10-1", "mean latencies of three flows (tables 7-14, 7-15)", _lags),
    Check("Table C-11", "design, execution times, effects on them", _appendix_c_costs,
          is_printed=False),
    Check("Table C-13", "ranks of factors by effect on six responses",
          lambda: _factor_ranks("e_tableC-13_rank_analysis", ("average", "ordinal"))),
    Check("Table C-15", "effects, from the condition means", _appendix_c_effects,
          is_printed=False),
    Check("Table C-16", "ranks of conditions on seven responses", _appendix_c_ranks),
    Check("Table C-17", "changes of average rank when one factor changes", _appendix_c_edges),
)  # fmt: skip
