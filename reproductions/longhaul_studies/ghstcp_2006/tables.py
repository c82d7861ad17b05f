"""Tables 2.1 to 2.4, 3.1 and 3.2 in the source's layout, with measured and printed values.

`python -m longhaul_studies.ghstcp_2006.tables` prints them in Markdown, from the recorded results
of the full scale.
"""

from collections.abc import Iterator, Sequence

from longhaul.analysis.comparisons import half_width
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.study import find

from .published import printed

HEAD = (
    "| experiment | protocol of S1 | protocol of S2 | one-way delay, ms | throughput of S1,"
    " Mbit/s | throughput of S2, Mbit/s | half width of 95 % interval of S1 + S2, Mbit/s |"
    " utilisation, % | utilisation in the thesis, % | fairness of flows | fairness of groups |"
    " fairness in the thesis | runs |\n|" + "---|" * 13
)
TITLE = """# Tables of gHSTCP and gentle Adaptive RED

The tables repeat Tables 2.1 to 2.4, 3.1 and 3.2 of *High-Speed Transport-Layer Protocols for Fast
Long-Distance Networks* (doctoral thesis, Osaka University, January 2006). The [study's
page](../../README.md) explains the set-up. Two groups of five flows, S1 and S2, share a link of 2.5
Gbit/s with a queue of 10,000 packets. The flows of S1 have access links of 100 Mbit/s, and those of
S2 have access links of 1 Gbit/s. Tables 2.1 and 2.2 have drop-tail queues, and differ in the
protocol of S2. The other tables have RED, and differ in its parameters or in its variant. The
column *experiment* has the names of the experiments in the study.

Values are means over the runs. Throughputs are of a whole group, with headers. Utilisation is the
throughput of both groups divided by the rate of the link. UDP background traffic takes 2.4 % of the
link on average, so a full link has a utilisation of 97.6 %. Fairness is Jain's index of throughputs
divided by max-min fair shares, which are 100 Mbit/s for a flow of S1 and 400 Mbit/s for a flow of
S2. *Fairness of flows* is the index of the ten flows, and *fairness of groups* is the index of the
means of the two groups. The thesis does not state which of the two indices it prints.
"""
SETTINGS = {
    "2.1": "drop-tail queue, Reno or HSTCP in S2",
    "2.2": "drop-tail queue, gHSTCP in S2",
    "2.3": "RED with max_p 0.1",
    "2.4": "RED with max_p 0.001",
    "3.1": "Adaptive RED",
    "3.2": "gentle Adaptive RED (gARED)",
}
"""Settings that the runs of each table share."""
METRICS = ("mbps_s1", "mbps_s2", "total_mbps", "utilisation", "fairness", "fairness_groups")


def lines(data: Data, table: str) -> Iterator[str]:
    """Yield the Markdown lines of the source's table with number `table`.

    The table has means over replications. For the total throughput it has only the half width of a
    95 % confidence interval. Rows that were not run have only the printed values.
    """
    yield HEAD
    for row in printed(table):
        start = f"| {row['experiment']} | {row['s1']} | {row['s2']} | {row['delay_ms']} | "
        try:
            points = data.points(row["experiment"], delay_ms=float(row["delay_ms"]))
        except NotRunError:
            rest = f"| | | | {row['utilisation']} | | | {row['fairness']} | |"
        else:
            s1, s2, total, used, fair, groups = (points[metric].to_list() for metric in METRICS)
            interval = half_width(total)
            width = "" if interval is None else f"{interval:.1f}"
            rest = (
                f"{_mean(s1):.0f} | {_mean(s2):.0f} | {width} | {_mean(used):.1f} | "
                f"{row['utilisation']} | {_mean(fair):.3f} | {_mean(groups):.3f} | "
                f"{row['fairness']} | {len(used)} |"
            )
        yield start + rest


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def main() -> None:
    """Print all tables."""
    study = find("ghstcp-2006")
    data = Data.read(study.recorded / "full", study.axes)
    print(TITLE)
    for table, settings in SETTINGS.items():
        print(f"Table {table} of the thesis: {settings}\n", *lines(data, table), "", sep="\n")


if __name__ == "__main__":
    main()
