"""Models of appendix A: tables, coefficients, crossings, equations."""

from functools import cache
from pathlib import Path

import numpy as np

from longhaul.files.rows import published_rows
from longhaul.models.dynamics import aimd
from longhaul.models.equilibrium import Equilibrium, equilibrium
from longhaul.models.fluid import FlowClass, Model
from longhaul.models.isolated import SawTooth, saw_tooth
from longhaul.models.laws import PRINTED, compound, crossing, cubic, solve_poisson_cubic
from longhaul.models.loss import AnickMitraSondhi, Link
from longhaul.models.marking import Custom, FluidLink
from longhaul.models.stability import OneDelay
from longhaul.studies.data import Data
from longhaul.studies.measures import Measures

# 1 Gbit/s in packets of 1024 bytes.
CAPACITY_PPS = 1e9 / 8.0 / 1024.0
FLOWS = 1000.0
# Round-trip times and buffers (packets) of the cells of tables.
RTTS_MS = (50, 100, 150, 200, 250, 300)
BUFFERS = (50, 100, 150, 200, 250, 300)

MEASURES = Measures()
measure = MEASURES.register


@cache
def printed() -> dict[tuple[str, int, int], int]:
    """Return tables A-1 to A-3: packets per ms by algorithm, round-trip time (ms) and buffer."""
    file = Path(__file__).parent / "published" / "tables_a.csv"
    return {
        (row["algorithm"], int(row["rtt_ms"]), int(row["buffer_pkts"])): int(
            row["throughput_pkts_per_ms"]
        )
        for row in published_rows(file)
    }


@cache
def cell(algorithm: str, rtt_ms: float, buffer: float, factor: float = 0.05) -> Equilibrium:
    """Return the equilibrium of a cell of tables A-1 to A-3.

    `factor` is the constant by which the loss model multiplies its loss rate.
    """
    link = Link(CAPACITY_PPS, buffer, rtt_ms / 1e3, FLOWS)
    return equilibrium(PRINTED[algorithm].window, AnickMitraSondhi(factor), link)


def throughput(algorithm: str, rtt_ms: float, buffer: float, factor: float = 0.05) -> float:
    """Return the fluid model's throughput in a cell of tables A-1 to A-3, in packets per ms."""
    return cell(algorithm, rtt_ms, buffer, factor).throughput_pps / 1e3


def _deviations() -> np.ndarray:
    return np.array([throughput(*place) - value for place, value in printed().items()])


@measure
def exact_cells(data: Data) -> float:
    """Count the cells, of 108 in tables A-1 to A-3, whose rounded throughput is as printed."""
    return float(sum(round(throughput(*place)) == value for place, value in printed().items()))


@measure
def largest_deviation(data: Data) -> float:
    """Return the fluid model's largest deviation from tables A-1 to A-3, in packets per ms."""
    return float(np.abs(_deviations()).max())


@measure
def fluid_throughput(
    data: Data, algorithm: str, rtt_ms: float, buffer: float, factor: float = 0.05
) -> float:
    """Return the fluid model's throughput in a cell of tables A-1 to A-3, in packets per ms.

    `factor` is the constant by which the loss model multiplies its loss rate.
    """
    return throughput(algorithm, rtt_ms, buffer, factor)


def _losses(algorithm: str, low: float, high: float) -> list[float]:
    return [cell(algorithm, rtt, b).loss for rtt in RTTS_MS if low <= rtt <= high for b in BUFFERS]


@measure
def least_loss(data: Data, algorithm: str, low: float, high: float) -> float:
    """Return the smallest loss rate of the equilibria with RTTs from `low` to `high` ms."""
    return min(_losses(algorithm, low, high))


@measure
def largest_loss(data: Data, algorithm: str, low: float, high: float) -> float:
    """Return the largest loss rate of the equilibria with RTTs from `low` to `high` ms."""
    return max(_losses(algorithm, low, high))


def _advantages(algorithm: str, low: float, high: float) -> np.ndarray:
    return np.array(
        [
            100.0 * (throughput(algorithm, rtt, b) / throughput("reno", rtt, b) - 1.0)
            for rtt in RTTS_MS
            if low <= rtt <= high
            for b in BUFFERS
        ]
    )


@measure
def least_advantage(data: Data, algorithm: str, low: float, high: float) -> float:
    """Return the least gain in throughput over Reno (%), in cells with RTTs from `low` to `high`.

    `low` and `high` are in ms.
    """
    return float(_advantages(algorithm, low, high).min())


@measure
def largest_advantage(data: Data, algorithm: str, low: float, high: float) -> float:
    """Return the largest gain in throughput over Reno (%), in cells with RTTs from `low` to `high`.

    `low` and `high` are in ms.
    """
    return float(_advantages(algorithm, low, high).max())


@measure
def cells_gaining(
    data: Data, algorithm: str, low: float, high: float, least: float, most: float
) -> float:
    """Count the cells that gain `least` to `most` percent of throughput over Reno.

    Cells have RTTs from `low` to `high` ms.
    """
    gains = _advantages(algorithm, low, high)
    return float(((gains >= least) & (gains <= most)).sum())


@measure
def out_of_order_cells(data: Data) -> float:
    """Count the pairs of adjacent cells with the fluid model's throughputs in the wrong order.

    Cells are those of tables A-1 to A-3. Throughput should not fall with a larger buffer, nor rise
    with a longer RTT.
    """
    wrong = 0
    for algorithm in ("cubic", "ctcp", "reno"):
        table = np.array([[throughput(algorithm, t, b) for b in BUFFERS] for t in RTTS_MS])
        wrong += int((np.diff(table, axis=1) < 0.0).sum() + (np.diff(table, axis=0) > 0.0).sum())
    return float(wrong)


@measure
def coefficient(data: Data, law: str) -> float:
    """Return the coefficient of the response function `law`.

    It is the mean window (packets) at a loss rate of 1 and an RTT of 1 s.
    """
    forms = {
        "cubic-periodic": cubic(decrease=0.2),
        "cubic-poisson": PRINTED["cubic"].window,
        "ctcp": compound(),
        "reno": PRINTED["reno"].window,
    }
    return float(forms[law](1.0, 1.0))


@measure
def crossing_with_reno(
    data: Data, algorithm: str, rtt_ms: float = 100.0, band: float = 1.0
) -> float:
    """Return the loss rate below which an algorithm's response function is above Reno's.

    `band` multiplies the algorithm's function, to give an edge of its error band. The result is NaN
    if the function is not above Reno's at a loss rate of 1e-9, and 1 if it is above at all rates.
    """
    law = PRINTED[algorithm].scaled(band)
    loss = crossing(law, PRINTED["reno, any p"], rtt_ms / 1e3)
    return np.nan if loss is None else loss


@measure
def cubic_over_ctcp(data: Data, rtt_ms: float, low: float, high: float) -> float:
    """Return the smallest ratio of CUBIC's window to CTCP's at loss rates from `low` to `high`."""
    p = np.geomspace(low, high, 50)
    ratio = PRINTED["cubic"].window(p, rtt_ms / 1e3) / PRINTED["ctcp"].window(p, rtt_ms / 1e3)
    return float(ratio.min())


@measure
def poisson_cubic(data: Data, what: str) -> float:
    """Return a value of the printed equations of CUBIC's window under Poisson losses.

    `what` is `plateau`, the mean time from a loss to the plateau in mean times between losses, or
    one of two windows in packets: `peak`, the mean just before a loss, or `mean`, that over time.
    """
    return float(getattr(solve_poisson_cubic(as_printed=True), what))


@measure
def constant_loss_window(data: Data) -> float:
    """Return the final window of equation 8 at a loss rate of 1e-3, from an initial 10 packets."""
    wide = FluidLink(1e9, 1.0, Custom(lambda queue: 1e-3))
    flows = FlowClass(1, 0.1, aimd(), window_pkts=10.0, slow_start=False)
    return float(Model([wide], [flows]).run(100.0, steps=50).window_pkts[-1, 0])


@cache
def lone_flow() -> SawTooth:
    """Return the sawtooth of equation 1 at 1000 packets/s and 0.1 s, without a buffer."""
    return saw_tooth(1000.0, 0.1, 0.0, 60.0)


@measure
def lone_flow_value(data: Data, what: str) -> float:
    """Return a number of the sawtooth `lone_flow`: the window of a single flow without a buffer.

    `what` is the lowest or highest window in packets (`low`, `high`), the `period` in seconds, or
    the mean `rate` in packets per second.
    """
    flow = lone_flow()
    values = {
        "low": flow.window_pkts.min(),
        "high": flow.window_pkts.max(),
        "period": np.diff(flow.losses_s).mean(),
        "rate": flow.rate_pps.mean(),
    }
    return float(values[what])


@measure
def sufficient_test(data: Data, rtt_ms: float, buffer: float) -> float:
    """Return `w (2 p + w p')`, the left side of equation 11, at Reno's equilibrium.

    w is the window, and p the loss rate. A sufficiently small value implies stability.
    """
    rest = _at_rest(rtt_ms, buffer)
    return 2.0 * rest.delay_s * (rest.a + rest.b)


def _at_rest(rtt_ms: float, buffer: float) -> OneDelay:
    at = cell("reno", rtt_ms, buffer)
    slope = at.loss * (1.0 / at.window_pkts + 1.5 * buffer / at.window_pkts**2)
    return OneDelay.of_small_buffer(at.window_pkts, at.loss, slope, rtt_ms / 1e3)
