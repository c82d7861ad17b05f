"""Windows of slow start, round by round (NIST SP 500-282, chapters 3 and 5)."""

from __future__ import annotations

from collections.abc import Iterator

import longhaul
from longhaul.mesonet import MesoNet
from validation.mesonet.network import quiet
from validation.mesonet.tables import published
from validation.rows import Row, near

# A round-trip time so long that the packets of a round are a short burst.
RTT_MS = 1000
TOPOLOGY = {
    "backbone": [
        {"name": name, "rate": 1000, "direct": [{"name": f"{name}a", "rate": 1000}]}
        for name in ("X", "Y")
    ],
    "links": [{"from": "X", "to": "Y", "delay": RTT_MS // 2}],
}
CASES = {
    "100_inf": ("EX-SS limited slow start", 100, 2**30),
    "100_43": ("EX-SS threshold 43", 100, 43),
    "100_20": ("EX-SS threshold 20", 100, 20),
    "200_100": ("EX-SS threshold 100", 200, 100),
    "16_128": ("SCH2 knee 16, threshold 128", 16, 128),
    "128_128": ("SCH1 threshold 128", 128, 128),
}


def rows() -> Iterator[Row]:
    """Yield rows that compare windows in slow start with windows by the published rules.

    A case with published windows has a row for the round that deviates most. Two cases have a row
    for the first round in which the window exceeds 150 packets.
    """
    expected = published("slow_start")
    for column, (case, knee, threshold) in CASES.items():
        windows = simulate(knee, threshold, 42)
        if column in expected[0]:
            pairs = [(float(row[column]), windows[int(row["round"])]) for row in expected]
            there, here = max(pairs, key=lambda pair: abs(pair[1] - pair[0]))
            metric = f"window that deviates most, of {len(pairs)} rounds, packets"
            yield near(case, metric, there, here, 0.001, "packets")
    metric = "first round with a window above 150"
    linear, limited = (_reaches(simulate(knee, 128, 45)) for knee in (128, 16))
    yield near(CASES["128_128"][0], metric, 30, linear, 1)
    yield near(CASES["16_128"][0], metric, 42, limited, 1)


def simulate(knee: int, threshold: int, rounds: int) -> list[float]:
    """Return the window in packets in the middle of each round of slow start, from round 0 on.

    `knee` is the window at which exponential growth ends, `threshold` the initial ssthresh.
    """
    run = longhaul.run(
        quiet(
            2 * rounds + 1,
            f"{RTT_MS // 2} ms",
            network={"topology": TOPOLOGY},
            transport={"max_ssthresh": knee, "initial_ssthresh": threshold},
            long_lived=[{"from": "Xa", "to": "Ya"}],
        )
    )
    windows = MesoNet.of(run).long_lived["cwnd_pkts"].to_list()
    return [float(cwnd) for cwnd in windows[::2]]


def _reaches(windows: list[float]) -> int:
    """Return the first round in which the window exceeds 150 packets."""
    return next(number for number, cwnd in enumerate(windows) if cwnd > 150)
