"""Tables of the README, written by `longhaul study tables sync-tcp-2003`."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from longhaul.files.rows import published_rows
from longhaul.studies.data import Data
from longhaul.studies.numbers import Table, markdown
from longhaul.studies.registry import Registry

NAMES = {
    "reno": "Reno", "pcwnd": "Pcwnd", "mixreact": "MixReact", "cubic": "CUBIC", "bbr3": "BBR v3",
    "ledbat": "LEDBAT",
}  # fmt: skip
THREE = ("reno", "pcwnd", "mixreact")
LOADS = (50, 60, 70, 80, 85, 90, 95, 100, 105)
READINGS = {
    "stay after a cut": ("the window after an early cut",
                         "grows as in congestion avoidance until the next cut or report", "stays"),
    "whole windows": ("cwnd", "real numbers", "whole segments at reductions"),
    "limited transmit": ("first duplicate ACKs", "release nothing", "limited transmit"),
    "queue counts waiting": ("limit of 92 packets", "includes the packet in service, as in ns-2",
                             "without the packet in service"),
    "RTO of 200 ms": ("smallest RTO", "1 s", "200 ms"),
    "start within 10 s": ("starts", "within 1 ms", "within 10 s"),
    "keep at a tie": ("no trend (a tie)", "congestion avoidance", "growth by the last trend"),
}  # fmt: skip


TABLES = Registry[Table]()
table = TABLES.register


@cache
def printed() -> dict[str, str]:
    """Return the printed values of claims as text, by the claim's identifier."""
    table: dict[str, str] = {}
    for part in ("transfers", "web"):
        file = Path(__file__).parent / part / "claims.csv"
        table |= {row["id"]: row["value"] for row in published_rows(file)}
    return table


def _beside(data: Data, of: str, protocol: str, columns: Iterable[tuple[str, str, int]]
            ) -> list[str]:  # fmt: skip
    """Return the row of `protocol`: its name, and measured and printed values by column.

    `columns` has the metric, the claim with the printed value, and the decimals of each column.
    """
    cells = [NAMES[protocol]]
    for metric, claim, decimals in columns:
        cells.append(f"{data.value(metric, of, protocol=protocol):.{decimals}f}")
        cells.append(printed().get(f"{claim}-{protocol}", ""))
    return cells


def _with_printed(*names: str) -> list[str]:
    """Return column names, each followed by the name of a column for printed values."""
    return [word for name in names for word in (name, "printed")]


@table
def one_bottleneck(data: Data) -> list[str]:
    """Return Table 4.3 with our values next to the printed ones."""
    columns = (("utilisation", "SB-util", 1), ("loss_0", "SB-loss", 2), ("queue_0", "SB-queue", 1))
    head = ["protocol", *_with_printed("utilisation (%)", "loss (%)", "queue (packets)")]
    return markdown(head, [_beside(data, "FTP-SB", name, columns) for name in THREE])


@table
def several_bottlenecks(data: Data) -> list[str]:
    """Return Tables 4.6 and 4.7 with our values next to the printed ones."""
    columns = (
        ("utilisation", "MB-util", 1), ("loss_1", "MB-loss-1", 2), ("loss_3", "MB-loss-3", 2),
        ("queue_1", "MB-queue-1", 1), ("queue_3", "MB-queue-3", 1),
    )  # fmt: skip
    names = (
        "utilisation (%)",
        "loss at R1 (%)",
        "loss at R3 (%)",
        "queue at R1 (packets)",
        "queue at R3 (packets)",
    )
    head = ["protocol", *_with_printed(*names)]
    return markdown(head, [_beside(data, "FTP-MB", name, columns) for name in THREE])


@table
def both_ways(data: Data) -> list[str]:
    """Return Tables A.1 and A.2 with our values next to the printed ones."""
    rows = (
        ("one way", "A1-ONEWAY", "99.83 %, 9983 kbit/s, 6181 drops"),
        (
            "both ways with an ACK for each packet",
            "A1-TWOWAY",
            "90.30 %, 8723 kbit/s, 11,169 drops",
        ),
        ("both ways with delayed ACKs", "FTP-SB", "90.59 %, 8869 kbit/s, 5685 drops"),
    )
    return markdown(
        ["traffic", "utilisation, goodput and drops here", "printed"],
        [[name, f"{data.value('utilisation', of, protocol='reno'):.1f} %, "
                f"{data.value('goodput', of, protocol='reno'):.0f} kbit/s, "
                f"{data.value('drops', of, protocol='reno'):,.0f} drops", then]
         for name, of, then in rows],
    )  # fmt: skip


def _three(data: Data, of: str, **cell: str) -> str:
    """Return medians of utilisation, loss rate and mean queue, as the text of one cell."""
    utilisation, loss, queue = (
        data.value(metric, of, **cell) for metric in ("utilisation", "loss_0", "queue_0")
    )
    return f"{utilisation:.1f} %, {loss:.2f} %, {queue:.1f}"


@table
def readings(data: Data) -> list[str]:
    """Return a table of results of long transfers under other interpretations of the source."""

    def both(reading: str) -> str:
        return "; ".join(
            _three(data, "FTP-OPEN", protocol=name, reading=reading) for name in THREE[1:]
        )

    rows = [["none", "as chosen", "as chosen", both("chosen")]]
    rows += [[name, chosen, other, both(reading)]
             for reading, (name, chosen, other) in READINGS.items()]  # fmt: skip
    head = "utilisation, loss and mean queue of Pcwnd; of MixReact"
    return markdown(["choice that is changed", "value chosen", "alternative", head], rows)


@table
def clocks(data: Data) -> list[str]:
    """Return a table of utilisation and Jain's index by the drift of clocks."""
    drifts = data.levels("drift_ppm", "FTP-CLOCK")
    rows = []
    for name in THREE[1:]:
        cells = [
            f"{data.value('utilisation', 'FTP-CLOCK', protocol=name, drift_ppm=drift):.1f} %, "
            f"{data.value('jain', 'FTP-CLOCK', protocol=name, drift_ppm=drift):.2f}"
            for drift in drifts
        ]
        rows.append([f"{NAMES[name]}: utilisation, Jain's index", *cells])
    return markdown(["drift up to (ppm)", *(f"{drift:g}" for drift in drifts)], rows)


@table
def today(data: Data) -> list[str]:
    """Return a table of utilisation, loss and Jain's index by sender, network and queue.

    The loss is that of the router with the largest loss rate.
    """
    places = (
        ("FTP-TODAY", "droptail"), ("FTP-TODAY", "fq-codel"), ("FTP-TODAY-MB", "droptail"),
        ("FTP-TODAY-MB", "fq-codel"),
    )  # fmt: skip

    def cell(name: str, of: str, queue: str) -> str:
        utilisation, loss, jain = (
            data.value(metric, of, protocol=name, queue=queue)
            for metric in ("utilisation", "loss_most", "jain")
        )
        return f"{utilisation:.0f} %, {loss:.1f} %, {jain:.2f}"

    head = [
        "sender", "one bottleneck, drop-tail", "one bottleneck, FQ-CoDel",
        "several bottlenecks, drop-tail", "several bottlenecks, FQ-CoDel",
    ]  # fmt: skip
    return markdown(
        head, [[shown, *(cell(name, *place) for place in places)] for name, shown in NAMES.items()]
    )


def _with_range(data: Data, metric: str, of: str, digits: int, unit: float = 1.0,
                **cell: str | float) -> str:  # fmt: skip
    """Return a median as text with `digits` decimals, after division by `unit`.

    The range over replications follows if its rounded ends differ.
    """
    runs = data.runs(metric, of, **cell).values()
    low, high = (f"{end / unit:.{digits}f}" for end in (min(runs), max(runs)))
    middle = f"{data.value(metric, of, **cell) / unit:.{digits}f}"
    return middle + (f" ({low} to {high})" if low != high else "")


@table
def web_loss(data: Data) -> list[str]:
    """Return Table 4.11 (loss) and the queue lengths of Table 4.10, and our values."""
    shown = {"reno": "Reno", "pcwnd": "Pcwnd", "mixreact": "MixReact"}
    rows = []
    for name, title in shown.items():
        rows.append([f"loss of {title} (%)", *(_loss(data, name, load) for load in LOADS)])
        then = (_as_printed(f"E3.1-{name}-{load}") for load in LOADS)
        rows.append([f"loss of {title}, printed", *then])
    rows.append(
        [
            "replications where MixReact loses less than Pcwnd",
            *(_less_lost(data, load) for load in LOADS),
        ]
    )
    rows.append(["mean queue of MixReact (packets)", *(_queue(data, load) for load in LOADS)])
    rows.append(
        ["mean queue of MixReact, printed", *(_as_printed(f"E3.6-{load}") for load in LOADS)]
    )
    return markdown(["load", "50 %", *(f"{load}" for load in LOADS[1:])], rows)


def _loss(data: Data, protocol: str, load: int) -> str:
    middle = data.value("loss_0", "H1", protocol=protocol, load=load)
    digits = 2 if middle < 2 else 1
    return _with_range(data, "loss_0", "H1", digits, protocol=protocol, load=load)


def _less_lost(data: Data, load: int) -> str:
    """Return the number of replications in which MixReact loses less than Pcwnd, as `3 of 5`."""
    cells = [("H1", {"protocol": name, "load": load}) for name in ("mixreact", "pcwnd")]
    _, mixreact, pcwnd = data.pairs("loss_0", *cells)
    return f"{(mixreact < pcwnd).sum()} of {len(pcwnd)}"


def _queue(data: Data, load: int) -> str:
    return _with_range(data, "queue_0", "H1", 0, protocol="mixreact", load=load)


def _as_printed(claim: str) -> str:
    return printed().get(claim, "")


@table
def web_three_bottlenecks(data: Data) -> list[str]:
    """Return a table of Reno's median response time and loss at 105 % load.

    The source prints them in Tables 4.20 to 4.27.
    """
    of = "HM-105"
    pairs = sorted(data.levels("pair", of), key=lambda pair: int(pair.split("-")[1]))
    metrics = (
        ("median response time of Reno (s)", "median", "median", 1000.0),
        ("loss at the second router (%)", "loss_1", "loss", 1.0),
    )
    rows = []
    for title, metric, claim, unit in metrics:
        cells = (
            _with_range(data, metric, of, 1, unit, protocol="reno", pair=pair) for pair in pairs
        )
        then = (float(_as_printed(f"E4.T-{pair}-reno-{claim}")) / unit for pair in pairs)
        rows += [[title, *cells], [f"{title}, printed", *(f"{value:.1f}" for value in then)]]
    heads = [pair.split("-")[1] for pair in pairs]
    return markdown(["load end to end", f"{heads[0]} %", *heads[1:]], rows)


@table
def web_today(data: Data) -> list[str]:
    """Return a table of web response times and loss by sender, at 85 % load with drop-tail."""
    where = {"queue": "droptail", "load": 85}
    order = ("mixreact", "pcwnd", "ledbat", "reno", "cubic", "bbr3")
    rows = []
    for name in order:
        early, late, last, loss = (
            data.value(metric, "N-WEB", protocol=name, **where)
            for metric in ("within_500", "within_1500", "p99", "loss_0")
        )
        shown = f"Sync-TCP({NAMES[name]})" if name in THREE[1:] else NAMES[name]
        rows.append(
            [shown, f"{early:.1f} %", f"{late:.1f} %", f"{last / 1e3:.1f} s", f"{loss:.1f} %"]
        )
    return markdown(["sender", "within 500 ms", "within 1500 ms", "99 % quantile", "loss"], rows)
