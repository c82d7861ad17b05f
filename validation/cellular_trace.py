"""Generator of the delivery trace of the example `cellular`: `python -m validation.cellular_trace`.

Writes the trace to `cellular.down` in the directory of the package's scenarios.

The rate of a cell changes as in the model of Sprout (Winstein, Sivaraman and Balakrishnan, NSDI
2013, section 3.1): a Brownian motion with a standard deviation of 200 packets/s after one second,
between 0 and 1,000 packets/s, with outages that end at a rate of 1 per second. Packets leave as a
Poisson process of the cell's rate.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "python" / "longhaul" / "scenarios" / "cellular.down"
SECONDS = 15
STEP_S = 0.02
VOLATILITY = 200.0
MAX_RATE = 1000.0
OUTAGE_ENDS_PER_S = 1.0


def times_ms(seed: int) -> list[int]:
    """Return the times (ms) at which a packet can leave, in increasing order.

    The last time is the end of the trace, after which the trace repeats.
    """
    draws = np.random.default_rng(seed)
    rate, times = 400.0, []
    for start_s in np.arange(0.0, SECONDS, STEP_S):
        stays_out = rate == 0.0 and draws.random() >= OUTAGE_ENDS_PER_S * STEP_S
        if not stays_out:
            rate = abs(rate + VOLATILITY * np.sqrt(STEP_S) * draws.standard_normal())
            rate = min(rate, 2 * MAX_RATE - rate)
            # The slowest rates count as outages, since the motion would leave zero immediately.
            rate = 0.0 if rate < 2.0 else rate
        count = draws.poisson(rate * STEP_S)
        times += list(start_s + STEP_S * draws.random(count))
    return [*(int(1000 * at_s) for at_s in sorted(times)), 1000 * SECONDS]


if __name__ == "__main__":
    FILE.write_text("".join(f"{at_ms}\n" for at_ms in times_ms(seed=111)), encoding="ascii")
