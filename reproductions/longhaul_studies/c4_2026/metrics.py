"""Metrics of a run's main download: completion time, round-trip time, and share of the link.

Printed times include the client's request before the data, and the end of the connection after the
data. Our runs lack both; half a round trip for each is added to our times. A full packet has 1,500
bytes on the wire.
"""

import numpy as np

from longhaul.campaign import Run
from longhaul.campaign.store import Kept

from .reduce import QUANTILES

PACKET_BITS = 8 * 1500


def metrics(kept: Kept, run: Run) -> dict[str, float | None]:
    """Return the metrics of one run from its stored results.

    `time_s` is None if the main download is unfinished; so is `load_pct` if it is the only one.
    """
    main = kept["main"]
    rtt_s = main["total_rtt_mean_s"]
    return {
        "time_s": _end_s(kept),
        "rtt_ms": 1e3 * rtt_s,
        "rtt_and_deviation_ms": 1e3 * (rtt_s + _deviation(kept["delays"])),
        "load_pct": _load(kept),
    }


def _end_s(kept: Kept) -> float | None:
    """Return the time (s) at which picoquic's simulation would end; None if `main` is unfinished.

    It ends one minimum round trip after the last acknowledgement.
    """
    finish_s = kept["main"]["finish_s"]
    return None if finish_s is None else float(finish_s + 2 * kept["delays"]["min_s"])


def _load(kept: Kept) -> float | None:
    """Return the load of the main download in percent; None if a single download is unfinished.

    With two downloads, it is the main download's share of the payload delivered while both are
    active, otherwise its share of the rate that the link has at the beginning.
    """
    if both := kept["bytes"]:
        return 100 * float(both["main"]) / float(sum(both.values()))
    main = kept["main"]
    if main["finish_s"] is None:
        return None
    lasted_s = float(main["finish_s"] - main["start_s"])
    carried_bps = PACKET_BITS * float(main["total_delivered_pkts"]) / lasted_s
    return 100 * carried_bps / float(kept["rate_bps"])


def _deviation(delays: dict[str, float]) -> float:
    """Return the standard deviation of delays that is estimated from the quantiles in `delays`.

    Delays are assumed to be uniformly distributed between adjacent quantiles. Acknowledgements do
    not queue, so round-trip times and one-way delays deviate equally.
    """
    shares = np.diff([QUANTILES[name] for name in QUANTILES]) / 100
    ends = np.array([delays[name] for name in QUANTILES])
    low, high = ends[:-1], ends[1:]
    mean = shares @ ((low + high) / 2)
    square = shares @ ((low**2 + low * high + high**2) / 3)
    return float(np.sqrt(max(square - mean**2, 0.0)))
