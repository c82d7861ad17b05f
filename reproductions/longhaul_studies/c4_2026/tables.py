"""Tables of the README, written by `longhaul study tables c4-2026`."""

from collections import Counter

from longhaul.analysis.judging import REPRODUCED
from longhaul.studies import ledger
from longhaul.studies.claims import Claim
from longhaul.studies.data import Data
from longhaul.studies.numbers import Table, markdown
from longhaul.studies.questions import DECLARED
from longhaul.studies.questions.shape import RUNS
from longhaul.studies.registry import Registry
from longhaul.studies.study import find

TABLES = Registry[Table]()
table = TABLES.register
MAINS = {"c4": "C4", "bbr3": "BBR v3", "cubic": "CUBIC"}
# Means, since the draft averages over its simulations.
MEAN = "mean"
# Subjects of claims by prefix of their names; the first match counts.
GROUPS = {
    "c4-time-p90": "time, nine in ten runs", "c4-time": "time",
    "c4-wifi-p90": "time, Wi-Fi, nine in ten runs", "c4-wifi": "time, Wi-Fi",
    "c4-rtt-p90": "round trip and deviation, nine in ten runs", "c4-rtt": "round trip",
    "c4-load-p90": "load, nine in ten runs", "c4-load": "load",
}  # fmt: skip
# Tests of two downloads.
TWO = ("vs_", "after_", "before_", "bbloat_")
METRICS = {"time_s": ("time, s", 2), "rtt_ms": ("round trip, ms", 0), "load_pct": ("load, %", 0)}


@table
def groups(data: Data) -> list[str]:
    """Return a table of how many printed numbers are reproduced, by group and algorithm.

    Derived numbers and hypotheses are left out.
    """
    held: Counter[tuple[str, str]] = Counter()
    every: Counter[tuple[str, str]] = Counter()
    for judgement in ledger.judge(find("c4-2026"), data, "quick"):
        if judgement.claim.derived or judgement.claim.is_hypothesis:
            continue
        key = _group(judgement.claim), str(judgement.claim.question.levels["main"])
        every[key] += 1
        held[key] += judgement.verdict == REPRODUCED
    rows = [
        [group, *(f"{held[group, main]} of {every[group, main]}" for main in MAINS)]
        for group in dict.fromkeys(group for group, _ in every)
    ]
    total = [
        f"{sum(held[key] for key in every if key[1] == main)} of "
        f"{sum(every[key] for key in every if key[1] == main)}"
        for main in MAINS
    ]
    return markdown(["numbers in their bands", *MAINS.values()], [*rows, ["all", *total]])


def _group(claim: Claim) -> str:
    """Return the name of a claim's group of tests, with the number of downloads."""
    name = next(name for start, name in GROUPS.items() if claim.id.startswith(start))
    return f"{name}: {'two downloads' if claim.experiments[0].startswith(TWO) else 'one download'}"


@table
def results(data: Data) -> list[str]:
    """Return a table of the means of our runs, with the printed values in brackets."""
    printed = {
        (claim.experiments[0], claim.question.metric, str(claim.question.levels["main"])):
            claim.expected.printed
        for claim in find("c4-2026").claims
        if claim.measure == MEAN and not claim.derived
    }  # fmt: skip
    tests = dict.fromkeys(test for test, _, _ in printed)
    rows = [
        [test, *(_cell(data, printed, test, metric, main) for metric in METRICS for main in MAINS)]
        for test in tests
    ]
    heads = [f"{name}: {title}" for title, _ in METRICS.values() for name in MAINS.values()]
    return markdown(["test", *heads], rows)


def _cell(
    data: Data, printed: dict[tuple[str, str, str], float | None], test: str, metric: str, main: str
) -> str:
    expected = printed.get((test, metric, main))
    if expected is None:
        return ""
    decimals = METRICS[metric][1]
    ours = DECLARED[MEAN](data, of=test, metric=metric, main=main, runs=RUNS)
    return f"{ours:.{decimals}f} ({expected:.{decimals}f})"
