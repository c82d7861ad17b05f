"""Cases beside the gold set: `python -m validation.ns2.fresh [--folder DIR] [PREFIX ...]`.

Other rates, delays, buffers, thresholds, agents and seeds of the same kinds. Runs ns-2 where no
recording is in the folder yet, then compares as for the gold set. Nothing is kept in the
repository: these cases guard against an engine that fits the gold set only.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from validation.ns2 import recordings
from validation.ns2.__main__ import print_verdicts
from validation.ns2.cases import Case
from validation.ns2.compare import compare
from validation.ns2.linux_modules import MODULES


def fresh_cases() -> Iterator[Case]:
    """Generate all of them, quick ones first."""
    yield from _single_flows()
    yield from _high_speed()
    yield from _queues()
    yield from _several_flows()
    yield from _losses()
    yield from _linux_modules()


def _single_flows() -> Iterator[Case]:
    paths = (("20e6", "0.02", "34"), ("45e6", "0.08", "120"), ("155e6", "0.03", "775"))
    for agent, (rate, delay, limit) in itertools.product(("sack", "newreno", "reno"), paths):
        path = f"rate={rate} delay={delay} limit={limit} T=80"
        yield _case(f"F1_{agent}_{rate}", 20, f"{path} flow={agent},1,0,0,0,0,1")
    path = "rate=45e6 delay=0.08 limit=300 T=80"
    for agent in ("sack", "newreno", "reno"):
        arguments = f"{path} delack=1 flow={agent},1,0,0,0,0,1"
        yield _case(f"F1_{agent}_delack", 20, arguments)
    yield _case("F1_sack_window", 20, f"{path} window=400 flow=sack,1,0,0,0,0,1")
    yield _case("F1_sack_iw10", 20, f"{path} iw=10 flow=sack,1,0,0,0,0,1")
    yield _case("F1_sack_access", 20, f"{path} flow=sack,1,0,0,0.01,0,1")
    yield _case("F1_sack_stop", 20, f"{path} flow=sack,1,0.35,0,0,0,1,50")
    yield _case("F1_sack_tiny", 20, "rate=2e6 delay=0.1 limit=8 T=120 flow=sack,1,0,0,0,0,1")
    yield _case("F1_reno_tiny", 20, "rate=2e6 delay=0.1 limit=8 T=120 flow=reno,1,0,0,0,0,1")
    small = "rate=5e6 delay=0.05 limit=20 pkt=576 T=100"
    yield _case("F1_newreno_tiny", 20, f"{small} flow=newreno,1,0,0,0,0,1")


def _high_speed() -> Iterator[Case]:
    path = "rate=622e6 delay=0.03 limit=1555 T=60"
    for low_window, max_ssthresh in itertools.product((31, 38, 100), (0, 50, 500)):
        arguments = f"{path} low_window={low_window} max_ssthresh={max_ssthresh}"
        name = f"F2_hstcp_low{low_window}_ms{max_ssthresh}"
        yield _case(name, 20, f"{arguments} flow=hstcp,1,0,0,0,0,1")
    steep = f"{path} high_window=20000 high_p=1e-6 high_decrease=0.2"
    yield _case("F2_hstcp_steep", 20, f"{steep} flow=hstcp,1,0,0,0,0,1")
    long = "rate=2.5e9 delay=0.05 limit=5000 T=60 max_ssthresh=200"
    yield _case("F2_hstcp_2500M", 20, f"{long} flow=hstcp,1,0,0,0,0,1")


def _queues() -> Iterator[Case]:
    path = "rate=155e6 delay=0.04 limit=1000 T=80 q=RED"
    queues = {
        "plain": "",
        "adaptive": "red_adaptive=1",
        "ecn": "red_adaptive=1 red_setbit=true ecn=1",
        "packets": "red_qib=false red_bytes=false red_adaptive=1 red_setbit=true ecn=1",
        "bytes_500": "red_mps=500 red_adaptive=1",
        "thresholds": "red_min=50 red_max=150 red_qw=0.002 red_markp=0.05",
        "harsh": "red_gentle=false red_min=20 red_max=40 red_qw=0.01",
    }
    for name, queue in queues.items():
        for agent in ("sack", "hstcp"):
            arguments = f"{path} {queue} max_ssthresh=100 flow={agent},4,0,1,0,0,1"
            yield _case(f"F3_{agent}_{name}", 20, arguments, seeds=5)
    arguments = f"{path} red_adaptive=1 flow=newreno,4,0,1,0,0,1"
    yield _case("F3_newreno_adaptive", 20, arguments, seeds=5)


def _several_flows() -> Iterator[Case]:
    path = "rate=155e6 delay=0.03 limit=400 T=80"
    agents = "flow=hstcp,3,0,2,0,0,1 flow=sack,3,0,2,0,0,1"
    yield _case("F4_3_3", 20, f"{path} {agents}", seeds=5)
    yield _case("F4_jitter", 20, f"{path} overhead=1e-5 {agents}", seeds=5)
    yield _case("F4_limited", 20, f"{path} max_ssthresh=100 {agents}", seeds=5)
    access = "flow=sack,2,0,1,0.01,0,1 flow=sack,2,0,1,0.05,0,1"
    yield _case("F4_access", 20, f"{path} max_ssthresh=100 {access}", seeds=5)
    both_ways = "flow=sack,2,0,1,0,0,1 flow=sack,2,0,1,0,1,0"
    yield _case("F4_both_ways", 20, f"{path} {both_ways}", seeds=5)
    many = "flow=newreno,5,0,2,0,0,1 flow=reno,5,0,2,0,0,1"
    yield _case("F4_newreno_reno", 20, f"{path} {many}", seeds=5)
    mixed = "flow=newreno,3,0,2,0,0,1 flow=sack,3,0,2,0,0,1"
    yield _case("F4_delack", 20, f"{path} delack=1 {mixed}", seeds=5)


def _losses() -> Iterator[Case]:
    path = "rate=1e9 delay=0.03 limit=100000 T=200"
    for agent, loss in itertools.product(("sack", "newreno", "reno", "hstcp"), ("1e-2", "1e-3")):
        arguments = f"{path} loss={loss} flow={agent},1,0,0,0,0,1"
        yield _case(f"F5_{agent}_{loss}", 20, arguments, seeds=5)
    for agent in ("sack", "newreno"):
        arguments = f"{path} loss=5e-3 delack=1 flow={agent},1,0,0,0,0,1"
        yield _case(f"F5_{agent}_delack", 20, arguments, seeds=5)
    yield _case("F5_sack_5e-2", 20, f"{path} loss=5e-2 flow=sack,1,0,0,0,0,1", seeds=5)


def _linux_modules() -> Iterator[Case]:
    path = "rate=155e6 delay=0.03 limit=300 sample=0.01"
    for module in MODULES:
        alone = f"flow=linux:{module},1,0,0,0,0,1"
        two = f"{alone} flow=linux:{module},1,10,0,0,0,1"
        yield _case(f"F6_{module}", 50, f"{path} T=150 {alone}")
        yield _case(f"F6_{module}_two", 100, f"{path} T=600 {two}")


def _case(name: str, warm_up_s: float, arguments: str, seeds: int = 1) -> Case:
    # Small seeds of ns-2's generator begin with small numbers: the SYN would be lost.
    return Case(name, warm_up_s, tuple(arguments.split()), tuple(range(11, 11 + seeds)))


def main() -> int:
    """Compare the cases whose names begin with one of the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prefixes", nargs="*", default=[""])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "longhaul-fresh"
    )
    arguments = parser.parse_args()
    cases = [case for case in fresh_cases() if case.name.startswith(tuple(arguments.prefixes))]
    outside = 0
    for case in cases:
        recordings.record(case, arguments.folder)
        for comparison in compare(
            [case], arguments.folder / "cache", arguments.processes, arguments.folder
        ):
            print_verdicts(comparison)
            outside += sum(not verdict.within for verdict in comparison.verdicts)
    print(f"{len(cases)} cases, {outside} figures outside their bounds")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
