"""Several threads share a run of MesoNet; their number changes no results."""

from pathlib import Path

import pytest

import longhaul
from longhaul.running.loading import ScenarioSource
from longhaul.studies.study import find


def _condition_8() -> ScenarioSource:
    return find("nist-2010").cell("N7-MAIN", {"condition": "8", "algorithm": "TCP"}).scenario


def _tables(run: longhaul.Results) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(run.path).glob("*.parquet")}


def test_tables_are_the_same_bytes_with_any_number_of_threads() -> None:
    scenario = _condition_8()
    short = ["mesonet.intervals=3", 'mesonet.periods=[{name="all",from="0 s",to="0.6 s"}]']
    one, two = (longhaul.run(scenario, set=short, threads=threads) for threads in (1, 2))
    assert _tables(one) == _tables(two)
    assert len(_tables(one)) > 3


def test_threads_are_for_mesonet_and_at_least_one() -> None:
    scenario = _condition_8()
    with pytest.raises(longhaul.ScenarioError, match="expected at least 1, found 0"):
        longhaul.run(scenario, threads=0)
    link = "[topology.dumbbell.bottleneck]\nrate = '9 Mbps'\ndelay = '9 ms'\n"
    tcp = f"duration = '1 s'\n{link}[[flows]]\n"
    with pytest.raises(longhaul.ScenarioError, match="scenarios of MesoNet"):
        longhaul.run(tcp, threads=2)
