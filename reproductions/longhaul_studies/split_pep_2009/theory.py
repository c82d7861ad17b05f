"""Theory: RED's automatic configuration and curve, and the sawtooth of synchronised flows.

Rates are in Mbit/s, windows and queues in packets of 1040 bytes, unless a name says otherwise.
"""

import json

from longhaul import load
from longhaul.models.marking import Red
from longhaul.models.paths import utilisation
from longhaul.studies.data import Data
from longhaul.studies.measures import Measures

# End-to-end path of 100 Mbit/s with a round-trip time of 520 ms.
MBPS, PATH_PKTS = 100.0, 6250.0
# Table 4.1 is for a link of 100 Mbit/s and 250 ms, with ns-2's mean packet of 500 bytes.
PROXY_WITH_RED = {
    "profile": "ns2-2.35",
    "duration": "1 s",
    "topology": {
        "dumbbell": {
            "bottleneck": {"rate": "100 Mbps", "delay": "250 ms"},
            "access": {"delay": "5 ms"},
        }
    },
    "flows": [{"packet": "1040 B"}],
    "proxies": [
        {
            "start": "left",
            "end": "right",
            "queue": {"kind": "red", "limit": "1000 packets", "mean_packet": "500 B"},
        }
    ],
}


def configured(key: str) -> float:
    """Return the value that RED's automatic configuration sets for `key` of the proxy's queue.

    Thresholds are in packets of 500 bytes.
    """
    queue = json.loads(load(PROXY_WITH_RED).resolved_json())["proxies"][0]["queue"]
    return float(str(queue[key]).split()[0])


def red(*, gentle: bool = True) -> Red:
    """Return the RED queue with its automatic parameters; its `curve` is that of Figure 3.4."""
    keys = ("min_th", "max_th", "max_p", "weight")
    return Red(**{key: configured(key) for key in keys}, gentle=gentle)


def saw_tooth_mbps(queue_pkts: float) -> float:
    """Return the throughput of synchronised flows without a proxy, in Mbit/s.

    `queue_pkts` is the length of the queue.
    """
    return MBPS * utilisation(queue_pkts, PATH_PKTS)


MEASURES = Measures()


@MEASURES.register
def red_parameter(data: Data, key: str) -> float:
    """Return the value that RED's automatic configuration sets for `key`, with 500-byte packets."""
    return configured(key)


@MEASURES.register
def certain_drop(data: Data) -> float:
    """Return the smallest average queue at which gentle RED drops every packet."""
    curve = red().curve
    low, high = 0.0, 1000.0
    while high - low > 1e-6:
        middle = (low + high) / 2.0
        low, high = (low, middle) if curve(middle) >= 1.0 else (middle, high)
    return high
