"""All cases: the 56 cases of the first recording, and later cases on further subjects."""

from __future__ import annotations

import random
from collections.abc import Iterator

from validation.linux.cases import LARGE_BUFFERS, PATHS, Case, Flow, Reordering, Writes

KINDS = ("reno", "cubic", "bbr")


def cases() -> Iterator[Case]:
    """Yield all cases of the comparison with Linux."""
    yield from first_cases()
    yield from later_cases()


def first_cases() -> Iterator[Case]:
    """Yield the first cases: buffers, two flows, losses, outages, marks, windows and transfers."""
    for letter in "sb":
        buffers = {
            "025": PATHS[letter].bdp_pkts // 4,
            "1": PATHS[letter].bdp_pkts,
            "4": {"s": 133, "b": 1666}[letter],
        }
        for suffix, limit in buffers.items():
            for kind in KINDS:
                yield Case(f"{letter}_{kind}_{suffix}", limit, 60, (Flow(kind),))
    for letter in "sb":
        for other in ("reno", "bbr"):
            flows = (Flow("cubic"), Flow(other, 0.5))
            yield Case(f"{letter}_cubic_{other}", PATHS[letter].bdp_pkts, 60, flows)
    random_drops = tuple(_one_in_a_thousand())
    for kind in KINDS:
        flow = (Flow(kind),)
        yield Case(f"b_{kind}_loss1", 1666, 15, flow, drops=(300,))
        yield Case(f"b_{kind}_loss3", 1666, 15, flow, drops=(300, 301, 302))
        yield Case(f"b_{kind}_random", 416, 60, flow, drops=random_drops)
        yield Case(f"s_{kind}_outage", 33, 30, flow, outage_s=(10, 12))
    for kind in ("reno", "cubic"):
        yield Case(f"b_{kind}_ecn", 416, 60, (Flow(kind),), mark_from_pkts=100)
    yield Case(
        "b_cubic_rcvbuf",
        416,
        15,
        (Flow("cubic"),),
        receive_window_bytes=163_040,
        receive_buffer_bytes=131_072,
    )
    # Recorded with the kernel's default send buffer: at most 4 MiB instead of 32 MiB.
    yield Case("b_cubic_4_wmem", 1666, 60, (Flow("cubic"),), sysctls={})
    for letter in "sb":
        for kind in KINDS:
            for size in (100_000, 1_000_000, 10_000_000):
                flow = (Flow(kind, size_bytes=size),)
                yield Case(f"{letter}_{kind}_{size // 1000}k", PATHS[letter].bdp_pkts, 30, flow)


def later_cases() -> Iterator[Case]:
    """Yield the later cases: reordering, receive buffers, ten flows, other paths, applications."""
    yield from _reordering()
    yield from _receive_buffers()
    yield from _ten_flows()
    yield from _other_paths()
    yield from _applications()


def _reordering() -> Iterator[Case]:
    """Yield cases in which 1 % of the packets are late and overtaken by 6 or 40 packets."""
    for kind in KINDS:
        for letter, limit, delay_s in (("s", 133, 0.008), ("b", 416, 0.01)):
            late = Reordering(0.01, delay_s)
            yield Case(f"{letter}_{kind}_reorder", limit, 60, (Flow(kind),), reordering=late)


def _receive_buffers() -> Iterator[Case]:
    """Yield cases with a receive buffer that grows from 16 KiB, or is limited to 1 MB."""
    for kind in ("cubic", "bbr"):
        opens = LARGE_BUFFERS | {"tcp_rmem": "4096 16384 33554432"}
        yield Case(f"b_{kind}_autotuned", 416, 30, (Flow(kind),), sysctls=opens)
        up_to = LARGE_BUFFERS | {"tcp_rmem": "4096 131072 1000000"}
        window = 623_616
        yield Case(
            f"b_{kind}_rmem", 416, 30, (Flow(kind),), sysctls=up_to, receive_window_bytes=window
        )


def _ten_flows() -> Iterator[Case]:
    """Yield cases of ten connections that start 0.1 s apart."""
    for kind in KINDS:
        flows = tuple(Flow(kind, 0.1 * number) for number in range(10))
        yield Case(f"b_{kind}_ten", 416, 60, flows)
    flows = tuple(Flow("cubic", 0.1 * number) for number in range(10))
    yield Case("s_cubic_ten", 133, 60, flows)


def _other_paths() -> Iterator[Case]:
    """Yield cases on a path of 200 ms, and on a path of the recorder's maximum rate, 100 Mbit/s."""
    for kind in KINDS:
        for letter in ("l", "f"):
            yield Case(f"{letter}_{kind}_1", PATHS[letter].bdp_pkts, 60, (Flow(kind),))
        flow = (Flow(kind, size_bytes=1_000_000),)
        yield Case(f"l_{kind}_1000k", PATHS["l"].bdp_pkts, 30, flow)


def _applications() -> Iterator[Case]:
    """Yield cases of applications that write little data, or write after pauses."""
    for kind in KINDS:
        for letter, name, writes in (
            ("b", "idle", Writes(1_000_000, 3)),
            ("s", "idle", Writes(300_000, 0.9)),
            ("b", "limited", Writes(20_000, 0.02)),
            ("s", "limited", Writes(5_000, 0.01)),
        ):
            # A loss after the window has grown.
            drops = (1000,) if name == "limited" else ()
            flow = (Flow(kind, writes=writes),)
            yield Case(f"{letter}_{kind}_{name}", PATHS[letter].bdp_pkts, 30, flow, drops)


def _one_in_a_thousand() -> list[int]:
    draws = random.Random(1)  # seed of the program that recorded the first cases
    return [number for number in range(300_000) if draws.random() < 0.001]
