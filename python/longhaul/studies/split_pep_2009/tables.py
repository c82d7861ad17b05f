"""The tables of the README, which `longhaul study tables split-pep-2009` writes."""

from longhaul.studies.data import Data
from longhaul.studies.numbers import Table, markdown
from longhaul.studies.registry import Registry

TABLES = Registry[Table]()
table = TABLES.register
OFF = ("off", "off-delayed")


@table
def acknowledgements(data: Data) -> list[str]:
    """Rates without a proxy by how receivers acknowledge, beside those that are printed."""
    rows = [
        _row(data, "1 transfer", "3000", "no loss in 2000 s", "PEP-E08", "droptail", flows=1),
        _row(data, "", "300", "about a fifth of 94", "PEP-E08", "droptail", flows=1),
        _row(data, "5 transfers", "3000, 1500, 1000", "96.2, 87.8, 78.4", "PEP-E06", "droptail"),
        _row(data, "50 transfers", "3000, 1500, 1000", "95.0, 88.9, 87.9", "PEP-E02", "droptail"),
        _row(data, "500 transfers", "3000, 1500, 1000", "93.3, 85.1, 81.5", "PEP-E05", "droptail"),
        _row(data, "750 web flows", "3000, 1500, 1000", "95.3, 89.9, 87.2", "PEP-E09", "red"),
    ]
    return markdown(["", "queue", "printed", "each packet", "delayed"], rows)


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
