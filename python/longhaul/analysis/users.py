"""What users get: goodput by group of flows and algorithm, differences, and ranks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from longhaul.analysis.ranks import RankSummary, goodput_ranks, summarise_ranks


@dataclass(frozen=True)
class Differences:
    """How far apart goodputs are, as shares of a base."""

    among_first: float
    """Range of the goodputs of the alternatives."""
    among_second: float
    """Range of the goodputs of the flows that compete with each of them."""
    first_over_second: float
    """How much more the alternatives have on average; negative if they have less."""


def differences(first: ArrayLike, second: ArrayLike, *, base: str = "larger") -> Differences:
    """Ranges of goodputs of algorithms, and of the flows that compete with each.

    `base` says what the ranges are shares of: the `larger` value (the maximum, or the mean of the
    alternatives) or the `smaller` one (the minimum, or the mean of the competitors).
    """
    alternatives, other = np.asarray(first, float), np.asarray(second, float)
    if base not in ("larger", "smaller"):
        raise ValueError(f"base: expected larger or smaller, found `{base}`")
    pick = np.max if base == "larger" else np.min
    gap = float(alternatives.mean() - other.mean())
    return Differences(
        float(np.ptp(alternatives) / pick(alternatives)),
        float(np.ptp(other) / pick(other)),
        gap / float(alternatives.mean() if base == "larger" else other.mean()),
    )


def goodput_table(values: ArrayLike) -> np.ndarray:
    """Mean goodputs over conditions of an array (condition, group, algorithm)."""
    table: np.ndarray = np.asarray(values, float).mean(axis=0)
    return table


def user_ranks(
    responses: Mapping[str, ArrayLike], kinds: Sequence[str]
) -> dict[tuple[str, str], np.ndarray]:
    """Ranks by response and kind of file, of arrays (condition, group, algorithm).

    `kinds` names the kind of file of each group. Each entry has a row for each condition and group.
    """
    ranks_by_group = {}
    for response, values in responses.items():
        ranks = goodput_ranks(values)
        for kind in dict.fromkeys(kinds):
            chosen = [g for g, name in enumerate(kinds) if name == kind]
            ranks_by_group[response, kind] = ranks[:, chosen, :].reshape(-1, ranks.shape[-1])
    return ranks_by_group


def rank_summary(
    responses: Mapping[str, ArrayLike], kinds: Sequence[str]
) -> tuple[RankSummary, dict[str, np.ndarray]]:
    """Average ranks over all responses and kinds of file, and for each response alone."""
    ranks = user_ranks(responses, kinds)
    whole = summarise_ranks({f"{response} {kind}": r for (response, kind), r in ranks.items()})
    each = {
        response: summarise_ranks(
            {kind: r for (name, kind), r in ranks.items() if name == response}
        ).average
        for response in responses
    }
    return whole, each
