"""Tables of the README, written by `longhaul study tables nist-2010`."""

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import numpy as np

from longhaul.analysis.statistics import rank_correlation
from longhaul.files.rows import published_rows
from longhaul.mesonet.numbered_responses import OF_PERIODS
from longhaul.studies.data import Data
from longhaul.studies.numbers import Table, markdown
from longhaul.studies.record import read
from longhaul.studies.registry import Registry
from longhaul.studies.study import find

NAMES = {
    "BIC": "BIC", "CTCP": "CTCP", "FAST": "FAST", "FAST-AT": "FAST-AT", "HSTCP": "HSTCP",
    "HTCP": "H-TCP", "Scalable": "Scalable TCP", "TCP": "standard TCP",
}  # fmt: skip
# Prefixes of names of claims.
PARTS = {
    "chapter 4, appendix D": "A4-", "appendix C": "AC-", "chapter 6": "A6-",
    "chapter 7": "A7-", "chapter 7, condition 8": "C7-", "chapter 8": "A8-", "chapter 9": "A9-",
    "table 10-1": "A10-", "chapter 10, conclusions": "K-",
}  # fmt: skip
PERIODS = {"TP1": "before the jumbo files", "TP2": "during them", "TP3": "after them"}
# Length of a period, for flows that never reach the rate of their interface.
NEVER_S = 300.0
# Numbers of sources of the whole network (table 7-6) and of the cut network.
SOURCES = {"uniform": (27_800, 7_772), "skewed": (17_460, 4_643)}
WHOLE, CUT = "N7-MAIN", "N7-CUT"
COMPARED = {
    "y6_TP1": "retransmission rate", "y42_TP1": "connecting flows", "y2_TP1": "growth of windows",
    "y5_TP1": "completed flows", "y31_TP1": "completed NN flows", "y29_TP1": "goodput of NN flows",
    "T.y5": "SYNs per flow",
}  # fmt: skip

TABLES = Registry[Table]()
table = TABLES.register


@cache
def printed() -> dict[str, float]:
    """Return the printed values of claims, by the claim's identifier.

    Claims without a printed value are left out.
    """
    rows = published_rows(Path(__file__).parent / "claims.csv")
    return {row["id"]: float(row["value"]) for row in rows if row["value"]}


@table
def condition_8(data: Data) -> list[str]:
    """Return Table 7-14 with our values next to the printed ones."""
    flows = ("L1", "L2", "L3")

    def cell(algorithm: str, flow: str) -> str:
        here = data.value(f"{flow}_full_s_TP1", WHOLE, condition=8, algorithm=algorithm)
        both = (printed()[f"C7-14-{algorithm.lower()}-{flow}"], here)
        return "; ".join("never" if s >= NEVER_S else f"{s:.1f}" for s in both)

    rows = [(name, *(cell(key, flow) for flow in flows)) for key, name in NAMES.items()]
    return markdown(("algorithm", *(f"{flow} (s, print; here)" for flow in flows)), rows)


@table
def condition_21(data: Data) -> list[str]:
    """Return Table 7-20 with our values next to the printed ones."""

    def cell(algorithm: str, period: str) -> str:
        here = data.value(f"L1_pps_{period}", WHOLE, condition=21, algorithm=algorithm)
        return f"{printed()[f'A7-106-{algorithm}-{period}']:,.0f}; {here:,.0f}"

    heads = [f"{period}, {when}" for period, when in PERIODS.items()]
    rows = [(name, *(cell(key, period) for period in PERIODS)) for key, name in NAMES.items()]
    return markdown(("algorithm (packets/s, print; here)", *heads), rows)


@table
def uncongested(data: Data) -> list[str]:
    """Return Tables 7-17 to 7-19 with our values, for three conditions without congestion.

    For period TP1, the source prints the same time to full rate for all three conditions; it is
    shown once.
    """
    conditions = (14, 28, 32)

    def seconds(value: float) -> str:
        return "never" if value >= NEVER_S else f"{value:.0f}"

    def kpps(value: float) -> str:
        return f"{value / 1e3:.1f}"

    def cell(
        algorithm: str, of: str, metric: str, chosen: tuple[int, ...], text: Callable[[float], str]
    ) -> str:
        print_ = printed()[f"{of}-{algorithm}-{chosen[0]}"]
        here = dict.fromkeys(
            text(data.value(metric, WHOLE, condition=condition, algorithm=algorithm))
            for condition in chosen
        )
        return "; ".join((text(print_), ", ".join(here)))

    rows = [
        (
            name,
            cell(key, "A7-101", "L1_full_s_TP1", conditions, seconds),
            *(cell(key, "A7-103", "L1_full_s_TP3", (one,), seconds) for one in conditions),
            *(cell(key, "A7-105", "L1_pps_TP2", (one,), kpps) for one in conditions),
        )
        for key, name in NAMES.items()
    ]
    again = [f"recovery in TP3, condition {one} (s)" for one in conditions]
    among = [f"goodput in TP2, condition {one}" for one in conditions]
    heads = ("algorithm (print; here)", "time to the full rate in TP1 (s)")
    return markdown((*heads, *again, *among), rows)


@table
def cut_congestion(data: Data) -> list[str]:
    """Return a table of active flows and retransmission rates in runs with standard TCP.

    It compares the whole network of chapter 7 with the cut network, under four conditions.
    """
    rows = []
    for condition, sources in ((8, "uniform"), (3, "skewed"), (5, "skewed"), (21, "uniform")):
        flows, rates = (
            [data.value(metric, of, condition=condition, algorithm="TCP") for of in (WHOLE, CUT)]
            for metric in ("y1_TP1", "y6_TP1")
        )
        active = [100 * n / of for n, of in zip(flows, SOURCES[sources], strict=True)]
        rows.append((str(condition), *_pair(active, ".1f"), *_pair(rates, ".3g")))
    heads = [
        f"{response} in TP1, {network} network"
        for response in ("active flows (% of sources)", "retransmission rate")
        for network in ("whole", "cut")
    ]
    return markdown(("condition", *heads), rows)


def _pair(values: Iterable[float], spec: str) -> list[str]:
    return [f"{value:{spec}}" for value in values]


@table
def cut_signs(data: Data) -> list[str]:
    """Return a table of the ratios of FAST-AT's responses to the means of six other algorithms.

    The table has ratios for the whole network of chapter 7 and for the cut network, under condition
    21, the most congested one.
    """

    def ratio(of: str, metric: str) -> float:
        def value(algorithm: str) -> float:
            return data.value(metric, of, condition=21, algorithm=algorithm)

        others = [value(name) for name in NAMES if name not in ("FAST", "FAST-AT")]
        return value("FAST-AT") * len(others) / sum(others)

    rows = [
        (name, *_pair((ratio(of, metric) for of in (WHOLE, CUT)), ".2f"))
        for metric, name in COMPARED.items()
    ]
    return markdown(("response", "ratio, whole network", "ratio, cut network"), rows)


@table
def cut_ranks(data: Data) -> list[str]:
    """Return a table of correlations of algorithms' ranks in the whole and in the cut network."""
    conditions = (8, 14, 28, 32, 21)

    def correlation(metric: str, condition: int) -> float:
        whole, cut = (
            np.array(
                [data.value(metric, of, condition=condition, algorithm=name) for name in NAMES]
            )
            for of in (WHOLE, CUT)
        )
        return rank_correlation(whole, cut)

    rows = [
        (name, *(f"{correlation(metric, condition):.2f}" for condition in conditions))
        for metric, name in COMPARED.items()
    ]
    heads = [f"condition {condition}" for condition in conditions]
    return markdown(("response", *heads), rows)


@table
def shortened(data: Data) -> list[str]:
    """Return a table that compares responses (table 4-28) of runs of 30 s and of full length.

    Ratios leave out runs whose response at full length is 0.
    """
    study = find("nist-2010")
    short = read(study.recorded / "quick", study).data
    runs = data.levels("run", "SA64")
    rows = []
    for response in OF_PERIODS[4]:
        if response.name in ("y4", "y6", "y10", "y16", "y17", "y20", "y22"):
            metric = f"{response.name}_measured"
            brief, whole = (
                np.array([of.value(metric, "SA64", run=run) for run in runs])
                for of in (short, data)
            )
            some = whole > 0
            ratios = np.quantile(brief[some] / whole[some], (0.5, 0.0, 1.0))
            correlation = rank_correlation(brief, whole)
            rows.append((response.name, response.title, *_pair((*ratios, correlation), ".2f")))
    heads = ("median ratio", "smallest ratio", "largest ratio", "rank correlation")
    return markdown(("number", "response", *heads), rows)
