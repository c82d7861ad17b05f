"""Response functions of HighSpeed TCP, compared with the source's (chapter 3, section 6.8).

The source's tables use Low_Window 38 and W = 0.12/p^0.835. For standard TCP, Table 3.1 uses
sqrt(1.5/p), and the others 1.2/sqrt(p). The source's simulations use Low_Window 31.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from longhaul.analysis.judging import decimals_of
from longhaul.files.rows import Row, published_rows
from longhaul.models.response import (
    FORMS,
    STANDARD,
    STANDARD_ROUNDED,
    HighSpeed,
    path_window,
    relative_fairness,
    rounds_between_losses,
)
from longhaul.studies.data import Data
from longhaul.studies.measures import Measures

TABLES = FORMS["tables"]
STUDIED = HighSpeed.through(low_window=31.0, low_p=None)
RTT_S = 0.1

MEASURES = Measures()
measure = MEASURES.register


def published(table: str) -> tuple[Row, ...]:
    """Return the rows of the printed table `table`."""
    return published_rows(Path(__file__).parent / "published" / f"table_{table}.csv")


def _last_digits_off(printed: str, computed: float) -> float:
    """Return the difference between two values in units of the last printed digit."""
    return abs(computed - float(printed)) / 10.0 ** -decimals_of(printed)


@measure
def table_3_1(data: Data) -> float:
    """Return the largest deviation of our values from Table 3.1, in units of the last digit."""
    off = []
    for row in published("3_1"):
        window = path_window(float(row["throughput_mbps"]) * 1e6, RTT_S)
        loss = float(STANDARD.loss(window))
        off += [
            _last_digits_off(row["congestion_window_pkts"], window),
            _last_digits_off(row["loss_rate"], loss),
            _last_digits_off(
                row["rtts_between_losses"], float(rounds_between_losses(STANDARD, loss))
            ),
        ]
    return max(off)


@measure
def table_3_2_windows(data: Data) -> float:
    """Return the largest relative deviation of our windows from those of Table 3.2.

    Half a packet of each deviation is ignored, because printed windows are rounded.
    """
    off = []
    for row in published("3_2"):
        printed = float(row["congestion_window_pkts"])
        computed = float(TABLES.window(float(row["packet_drop_rate"])))
        off.append(max(0.0, abs(computed - printed) - 0.5) / printed)
    return max(off)


@measure
def table_3_2_rounds(data: Data) -> float:
    """Return the largest relative deviation of our round trips between losses from Table 3.2."""
    return max(
        abs(
            float(rounds_between_losses(TABLES, float(row["packet_drop_rate"])))
            / float(row["rtts_between_losses"])
            - 1
        )
        for row in published("3_2")
    )


@measure
def table_3_3(data: Data) -> float:
    """Return the largest deviation of our fairness from Table 3.3, in units of the last digit."""
    return max(
        _last_digits_off(
            row["relative_fairness"],
            float(relative_fairness(TABLES, STANDARD_ROUNDED, float(row["packet_drop_rate"]))),
        )
        for row in published("3_3")
    )


@measure
def ten_gigabit(data: Data) -> float:
    """Return the largest relative difference from the printed example at 10 Gbit/s.

    The example prints a window, and the distance between losses in packets and in seconds.
    """
    window = path_window(1e10, RTT_S)
    loss = float(STANDARD_ROUNDED.loss(window))
    between_s = float(rounds_between_losses(STANDARD_ROUNDED, loss)) * RTT_S
    computed = [(window, 83_333), (1 / loss, 5e9), (between_s, 6000)]
    return max(abs(ours / printed - 1) for ours, printed in computed)


@measure
def buffer_kilobytes(data: Data) -> float:
    """Return the buffer in kilobytes that corresponds to 50 ms at 100 Mbit/s."""
    return path_window(100e6, 0.05, packet_bytes=1000)


@measure
def crossing_with_capacity(data: Data) -> float:
    """Return the loss rate at which HSTCP's mean window in theory fills 1 Gbit/s at 100 ms.

    As in the source's simulations, Low_Window is 31.
    """
    return float(STUDIED.loss(path_window(1e9, RTT_S)))


def streams_rate(count: int, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the packets per round trip of `count` parallel TCP streams at loss rates `p`.

    The constant C of the equation in section 6.8 is 1.
    """
    return count / np.sqrt(p)
