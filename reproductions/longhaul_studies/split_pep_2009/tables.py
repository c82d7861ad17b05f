"""Tables of the README, written by `longhaul study tables split-pep-2009`.

Today's senders are CUBIC and BBR v3. Rates are those of the link on the wire, in Mbit/s.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from longhaul.studies.data import Data
from longhaul.studies.numbers import Table, markdown
from longhaul.studies.registry import Registry

TABLES = Registry[Table]()
table = TABLES.register
OFF = ("off", "off-delayed")
# Today's senders, and the numbers of parallel transfers in most of their experiments.
SENDERS = {"cubic": "CUBIC", "bbr3": "BBR v3"}
PROXIES = {"off": "no proxy", "split": "proxy", "split either way": "proxies either way"}
DISCIPLINES = {"droptail": "drop-tail", "codel": "CoDel", "fq-codel": "FQ-CoDel"}
TRANSFERS = (1, 5, 50)


@table
def acknowledgements(data: Data) -> list[str]:
    """Return a table of measured and printed rates without a proxy, for two ACK policies."""
    rows = [
        _row(data, "1 transfer", "3000", "no loss in 2000 s", "PEP-E08", "droptail", flows=1),
        _row(data, "1 transfer", "300", "about a fifth of 94", "PEP-E08", "droptail", flows=1),
        _row(data, "5 transfers", "3000, 1500, 1000", "96.2, 87.8, 78.4", "PEP-E06", "droptail"),
        _row(data, "50 transfers", "3000, 1500, 1000", "95.0, 88.9, 87.9", "PEP-E02", "droptail"),
        _row(data, "500 transfers", "3000, 1500, 1000", "93.3, 85.1, 81.5", "PEP-E05", "droptail"),
        _row(data, "750 web flows", "3000, 1500, 1000", "95.3, 89.9, 87.2", "PEP-E09", "red"),
    ]
    return markdown(["traffic", "queue", "printed", "ACK for each packet", "delayed ACKs"], rows)


def _row(
    data: Data, name: str, sizes: str, printed: str, of: str, queue: str, **cell: float
) -> list[str]:
    lengths = [float(size) for size in sizes.split(", ")]
    rates = (
        ", ".join(
            f"{data.value('mbps', of, proxy=proxy, queue=queue, size=size, **cell):.1f}"
            for size in lengths
        )
        for proxy in OFF
    )
    return [name, sizes, printed, *rates]


@table
def today_bulk(data: Data) -> list[str]:
    """Return a table of the rates of CUBIC and BBR v3 in experiment PEP-N01.

    Rates are given for several disciplines and sizes of a queue: the proxy's local queue, or the
    link's queue without a proxy.
    """
    cells = [
        (f"{name} of {size} packets", {"queue": queue, "size": size})
        for queue, name in DISCIPLINES.items()
        for size in (300, 4333)
    ]
    return _today(data, "queue", "PEP-N01", cells, TRANSFERS)


@table
def today_same_queue(data: Data) -> list[str]:
    """Return a table of the rates of today's senders behind one queue (PEP-N03).

    Flows with and without a proxy have the same queue.
    """
    cells = [(f"drop-tail of {size} packets", {"size": size}) for size in (300, 500, 4333)]
    return _today(data, "queue of the link", "PEP-N03", cells, TRANSFERS)


@table
def today_losses(data: Data) -> list[str]:
    """Return a table of the rates of today's senders on a link that loses packets (PEP-N04)."""
    cells = [
        (f"{100 * lost:g} %, {name}", {"pattern": pattern, "lost": lost})
        for lost in (0.001, 0.01)
        for pattern, name in (("random", "single"), ("bursts", "three in a row"))
    ]
    return _today(data, "loss rate and pattern", "PEP-N04", cells, TRANSFERS)


@table
def today_links(data: Data) -> list[str]:
    """Return a table of the rates of five flows of CUBIC or BBR v3 on several links (PEP-N05)."""
    cells = [(str(link), {"link": link}) for link in data.levels("link", "PEP-N05")]
    return _today(data, "link", "PEP-N05", cells, (5,))


@table
def today_responses(data: Data) -> list[str]:
    """Return a table of the response times of CUBIC and BBR v3, by response size (PEP-N02)."""
    of = "PEP-N02"
    rows = [
        [f"{size} kB", name, *(_times(data, of, size, sender, proxy) for proxy in PROXIES)]
        for size in (10, 100, 1000)
        for sender, name in SENDERS.items()
    ]
    return markdown(["response", "senders", *PROXIES.values()], rows)


def _today(
    data: Data, head: str, of: str, cells: Sequence[tuple[str, Mapping[str, Any]]],
    flows: Sequence[int],
) -> list[str]:  # fmt: skip
    """Return a table of rates in experiment `of`, for each sender with and without a proxy.

    Each of `cells` is a row, given by its heading and its levels; `head` is the heading of the
    first column. An entry of the table lists the rates for all numbers of `flows`.
    """
    columns = [(sender, proxy) for sender in SENDERS for proxy in ("off", "split")]
    rows = [
        [name] + [
            ", ".join(_rate(data, of, flows=count, sender=sender, proxy=proxy, **cell)
                      for count in flows)
            for sender, proxy in columns
        ]
        for name, cell in cells
    ]  # fmt: skip
    heads = [f"{SENDERS[sender]}, {PROXIES[proxy]}" for sender, proxy in columns]
    return markdown([head, *heads], rows)


def _rate(data: Data, of: str, **cell: Any) -> str:  # noqa: ANN401
    """Return a median rate as text, followed by the range over replications if that is large.

    A range is large if it exceeds a tenth of the median.
    """
    runs = data.runs("mbps_settled", of, **cell).values()
    least, median, most = min(runs), data.value("mbps_settled", of, **cell), max(runs)
    return f"{median:.1f}" + (f" ({least:.2g} to {most:.2g})" if most - least > median / 10 else "")


def _times(data: Data, of: str, size: int, sender: str, proxy: str) -> str:
    half, most = (
        data.value(f"response_p{part}_s", of, response_kB=size, sender=sender, proxy=proxy)
        for part in (50, 95)
    )
    return f"{half:.2f} s ({most:.2f})"
