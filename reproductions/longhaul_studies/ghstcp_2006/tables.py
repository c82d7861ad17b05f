"""Tables 2.1 to 3.2 in the source's layout, with measured and printed values.

`python -m longhaul_studies.ghstcp_2006.tables` prints them in Markdown, from the recorded results
of the full scale.
"""

from collections.abc import Iterator, Sequence

from longhaul.analysis.comparisons import half_width
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.study import find

from .published import printed

HEAD = (
    "| experiment | slower group (S1) | faster group (S2) | one-way delay, ms | throughput of S1,"
    " Mbit/s | throughput of S2, Mbit/s | half width of 95 % interval of S1 + S2, Mbit/s |"
    " utilisation, % | printed utilisation, % | fairness of flows | fairness of groups |"
    " printed fairness | runs |\n|" + "---|" * 13
)
METRICS = ("mbps_s1", "mbps_s2", "total_mbps", "utilisation", "fairness", "fairness_groups")


def lines(data: Data, table: str) -> Iterator[str]:
    """Yield the Markdown lines of the source's table with number `table`.

    The table has means over replications. For the total throughput it also has the half width of a
    95 % confidence interval.
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
    for table in dict.fromkeys(row["table"] for row in printed()):
        title = f"Table {table} of the thesis, with means over the runs\n"
        print(title, *lines(data, table), "", sep="\n")


if __name__ == "__main__":
    main()
