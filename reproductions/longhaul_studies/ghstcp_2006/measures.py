"""Measures of the study's claims: each is one number.

It is computed from medians over replications, from one replication's time series, or from theory.
Arguments are the results `data` and the words in a claim's `where`: `of` is an experiment, `beside`
another one to compare it with. Shares are between 0 and 1; trends are rank correlations.
"""

from collections.abc import Iterable

import numpy as np

from longhaul.studies.data import Data, NotRunError
from longhaul.studies.measures import GENERAL, Measures

from . import theory, traces
from .published import printed

MEASURES = Measures(GENERAL | theory.MEASURES | traces.MEASURES)
measure = MEASURES.register

# Rate of the bottleneck, whose hundredth is a percentage point of utilisation.
LINK_MBPS = 2500.0


@measure
def within_interval(data: Data, table: str | float) -> float:
    """Return the share of rows of a printed table whose utilisation we reproduce.

    `table` is the table's number. A row is reproduced if our utilisation is off the printed one by
    at most half the width of the throughput's 95 % interval, in percent of the link's rate.
    """
    near = []
    for row in printed(str(table)):
        used = data.value("utilisation", row["experiment"], delay_ms=float(row["delay_ms"]))
        half_width = 100 * float(row["ci95_total_mbps"]) / LINK_MBPS
        near.append(abs(used - float(row["utilisation"])) <= half_width)
    return _share(near)


@measure
def never_rises(data: Data, metric: str, without: str, slack: float) -> float:
    """Return the fraction of pairs of successive delays between which `metric` does not rise.

    The pairs are of all tables. `without` lists the experiments that are left out, with commas
    between them. A rise of at most `slack` is accepted, because values are rounded.
    """
    left_out = without.split(",")
    steps = []
    for of in dict.fromkeys(row["experiment"] for row in printed()):
        if of not in left_out:
            steps += list(np.diff(data.curve(metric, "delay_ms", of).y) <= slack)
    return _share(steps)


@measure
def gentle_is_fairer(data: Data) -> float:
    """Return the share of cases in which gHSTCP is at least as fair as HSTCP.

    A case is a combination of queue, delay, and flows with or without SACK.
    """
    rows = {(row["table"], row["s1"], row["s2"], row["delay_ms"]): row for row in printed()}
    fairer = []
    for (table, s1, s2, delay), row in rows.items():
        gentle = ("2.2" if table == "2.1" else table, s1, s2.replace("HSTCP", "gHSTCP"), delay)
        if s2.startswith("HSTCP") and gentle in rows:
            gentle_fairness, other = (
                data.value("fairness", printed_row["experiment"], delay_ms=float(delay))
                for printed_row in (rows[gentle], row)
            )
            fairer.append(gentle_fairness >= other)
    return _share(fairer)


@measure
def fewer_resets(data: Data, of: str, beside: str, label: str) -> float:
    """Return the window resets per flow (`traces.resets`) in `of` minus those in `beside`."""
    return traces.resets(data, of, label) - traces.resets(data, beside, label)


def _share(truths: Iterable[bool]) -> float:
    values = list(truths)
    if not values:
        raise NotRunError("there are no pairs to compare")
    return float(np.mean(values))
