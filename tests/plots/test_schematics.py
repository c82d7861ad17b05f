"""NIST's schematic plots of a flow and a connection (SP 500-282, figures 5-4 and 5-5).

One flow of standard TCP with a round trip of one second is simulated. Its slow start ends at 128
segments; it loses a packet at a window of 150 segments, and later a whole window of 100. Times in
NIST's figures are read by eye.
"""

from functools import cache
from typing import Any

import polars as pl
import pytest

import longhaul

HANDSHAKE_S = 1.0
READING_S = 2.5
"""Error in seconds of a time that is read from a figure."""

SLOW_STARTS: dict[str, dict[str, Any]] = {
    "SCH1": {"kind": "standard"},
    "SCH2": {"kind": "nist-limited", "max_ssthresh": 16},
}


def scenario(slow_start: dict[str, Any], lost: list[int]) -> dict[str, Any]:
    """Return a scenario with NIST's transport, in which the packets `lost` are lost.

    The initial window is two segments, and timeouts take two round trips.
    """
    link = {"rate": "1 Gbps", "delay": "500 ms", "loss": {"packets": lost}}
    return {
        "title": "Schematic flow",
        "duration": "110 s",
        "measure": {"every": "100 ms", "events": True},
        "tcp": {
            "initial_window": 2,
            "initial_ssthresh": 128,
            "delayed_ack": False,
            "rto": {"initial": "3 s", "min": "2 s"},
        },
        "topology": {"dumbbell": {"bottleneck": link}},
        "flows": [{"slow_start": slow_start}],
    }


def samples(results: longhaul.Results, kind: str = "flow") -> pl.DataFrame:
    """Return the samples of the flow, or of the first link."""
    return results.series.filter((pl.col("kind") == kind) & (pl.col("id") == 0))


def reaches(results: longhaul.Results, cwnd: float, after_s: float = 0.0) -> dict[str, Any]:
    """Return the first sample after `after_s` with a window of at least `cwnd`."""
    later = samples(results).filter((pl.col("t_s") > after_s) & (pl.col("cwnd_pkts") >= cwnd))
    return later.row(0, named=True)


def event(results: longhaul.Results, name: str) -> dict[str, Any]:
    (row,) = results.events.filter(pl.col("event") == name).iter_rows(named=True)
    return row


@cache
def schematic(name: str) -> longhaul.Results:
    """Return the results of one flow with the slow start `SLOW_STARTS[name]`.

    The flow loses one packet at a window of 150 segments, and later all packets of a window of 100
    segments.
    """

    def run(lost: list[int]) -> longhaul.Results:
        return longhaul.run(scenario(SLOW_STARTS[name], lost))

    # Runs without a loss show which packets have to be lost. The SYN is packet 0, so the last
    # packet's number is the number of packets sent so far.
    lost = [reaches(run([]), 150.0)["sent_pkts"] + 1]
    halved = run(lost)
    at_100 = reaches(halved, 100.0, event(halved, "recovery_exit")["t_s"])
    first = at_100["sent_pkts"] + 1
    silent = samples(run([*lost, *range(first, first + 400)])).filter(
        pl.col("t_s") > at_100["t_s"] + 1.5
    )
    return run([*lost, *range(first, silent["sent_pkts"][0] + 1)])


@pytest.mark.parametrize(
    ("name", "at_128_s", "at_150_s", "at_100_s"),
    [("SCH1", 6.0, 30.0, 55.0), ("SCH2", 17.0, 42.0, 67.0)],
)
def test_schematic_flows_pass_their_landmarks(
    name: str, at_128_s: float, at_150_s: float, at_100_s: float
) -> None:
    results = schematic(name)
    cut, repaired = event(results, "cut"), event(results, "recovery_exit")
    assert cut["cwnd_after_pkts"] == pytest.approx(75.0, abs=1.0)
    assert cut["ssthresh_after_pkts"] == cut["cwnd_after_pkts"]
    for cwnd, expected_s, after_s in [
        (128.0, at_128_s, 0.0),
        (150.0, at_150_s, 0.0),
        (100.0, at_100_s, repaired["t_s"]),
    ]:
        found_s = reaches(results, cwnd, after_s)["t_s"] - HANDSHAKE_S
        assert found_s == pytest.approx(expected_s, abs=READING_S)


@pytest.mark.parametrize(
    ("name", "slow"),
    [
        ("SCH1", [1, 2, 4, 8, 16, 32]),
        # By equation 5 each ACK adds 8 / w segments, and a round trip has w ACKs, so that w^2 grows
        # by 16 w each round trip.
        ("SCH2", [1, 2, 4, 8, 16, 22.6, 29.6, 36.7, 43.9]),
    ],
)
def test_schematic_flows_start_over_after_their_timeout(name: str, slow: list[float]) -> None:
    results = schematic(name)
    timeout = event(results, "timeout")
    # The window grows for one more round trip before its loss.
    assert timeout["cwnd_before_pkts"] == pytest.approx(101.0, abs=1.5)
    # Standard TCP restarts with one segment, NIST's transport with two.
    assert timeout["cwnd_after_pkts"] == 1.0
    assert timeout["ssthresh_after_pkts"] == pytest.approx(50.5, abs=1.0)
    later = samples(results).filter(pl.col("t_s") > timeout["t_s"] + 0.5)
    cwnd = later["cwnd_pkts"].gather_every(10)
    assert cwnd[: len(slow)].to_list() == pytest.approx(slow, rel=0.01)
    steps = cwnd.diff()[len(slow) + 2 : len(slow) + 12]
    assert steps.to_list() == pytest.approx([1.0] * 10, abs=0.03)


def syns_s(lost: int) -> list[float]:
    """Return the times at which SYNs reach the link, to 0.1 s, if the first `lost` are dropped."""
    link = samples(longhaul.run(scenario({"kind": "standard"}, list(range(lost)))), "link")
    lost_s = [link.filter(pl.col("dropped_pkts") > count)["t_s"][0] for count in range(lost)]
    return [*lost_s, link.filter(pl.col("departed_pkts") > 0)["t_s"][0]]


def test_syns_double_their_distance() -> None:
    # In CON1, SYNs are sent at 0, 3 and 9 s; at 21 s NIST's source gives up, standard TCP sends.
    assert syns_s(3) == pytest.approx([0.1, 3.0, 9.0, 21.0], abs=0.11)


def test_a_connection_succeeds_after_losses() -> None:
    # In CON2, the second SYN is delivered, and data follow the SYN-ACK.
    results = longhaul.run(scenario({"kind": "standard"}, [0]))
    first = samples(results).filter(pl.col("sent_pkts") > 0).row(0, named=True)
    assert first["t_s"] == pytest.approx(3.0 + HANDSHAKE_S, abs=0.11)
    # After a lost SYN, cwnd is one segment (RFC 5681 section 3.1), but two for NIST's source.
    assert first["sent_pkts"] == 1
