"""Traffic from end to end: tables of exchanges, and what spec 001b states of web traffic."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import longhaul

SCENARIOS = Path(__file__).parents[1] / "scenarios"


def test_every_exchange_is_in_the_table() -> None:
    results = longhaul.run(SCENARIOS / "requests.toml", set=["duration=20 s", "measure.from=0 s"])
    exchanges, web = results.exchanges, results.flows.filter(label="web")
    done = exchanges.filter(pl.col("end_s").is_not_null())
    counted = done.group_by("name").len().sort("name")
    assert counted["len"].to_list() == web.sort("name")["exchanges"].to_list()
    assert exchanges.height == web["connections"].sum()
    # In the order of their ends, those that are cut short last.
    assert done["end_s"].is_sorted()
    assert exchanges["end_s"].head(done.height).null_count() == 0
    moments = done.select("start_s", "requested_s", "answered_s", "end_s").to_numpy()
    assert (np.diff(moments, axis=1) >= 0).all()
    # A handshake and a round trip at least, on a path of 40 ms and what the connection adds.
    least = 2 * (0.04 + done["extra_rtt_s"])
    assert (done["end_s"] - done["start_s"] >= least).all()


def test_runs_without_traffic_have_no_exchanges(small: Path) -> None:
    results = longhaul.run(small)
    assert "exchanges" not in results.tables
    with pytest.raises(longhaul.LonghaulError, match="only flows with `traffic` have exchanges"):
        _ = results.exchanges


def hurst(counts: np.ndarray) -> float:
    """Aggregated variances (spec 001b B.13), from a tenth of a second to 13 seconds."""
    levels = [2**n for n in range(8)]
    blocks = [counts[: len(counts) // level * level].reshape(-1, level) for level in levels]
    variances = [block.mean(axis=1).var() for block in blocks]
    slope = np.polyfit(np.log(levels), np.log(variances), 1)[0]
    return float(1 + slope / 2)


@pytest.mark.long
def test_web_traffic_loads_a_link_as_stated() -> None:
    """E6.2 and E6.7 of spec 001b, where nothing waits, over four seeds."""
    faster = [
        f"{link}.rate=100 Mbps"
        for link in ("topology.dumbbell.bottleneck", "flows.0.access", "flows.1.access")
    ]
    figures = []
    for seed in (1, 2, 3, 4):
        settings = [f"seed={seed}", "duration=2200 s", "measure.every=100 ms", *faster]
        results = longhaul.run(SCENARIOS / "packmime.toml", set=settings)
        samples = results.link_series.filter(pl.col("name") == "bottleneck", pl.col("t_s") >= 120)
        counts = samples["departed_pkts"].diff().drop_nulls().to_numpy()
        arrived = results.links.filter(name="bottleneck")["arrived_bytes"][0]
        figures.append((hurst(counts), arrived * 8 / 2080))
    parameters, offered_bps = np.transpose(figures)
    assert parameters.mean() == pytest.approx(0.84, abs=0.05), figures
    # Rates of 24.1 and 22.9 connections a second and cloud are a load of 85 % of 10 Mbit/s. The
    # mean of loads does not converge: one of these runs draws a response that makes it 114 %.
    assert np.median(offered_bps) == pytest.approx(8.5e6, rel=0.03), figures
