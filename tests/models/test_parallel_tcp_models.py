"""The models of parallel TCP against independently computed points, limits and bounds."""

import csv
from dataclasses import replace
from pathlib import Path as File

import pytest

from longhaul.models.parallel_tcp import (
    Band,
    Path,
    Red,
    band,
    desynchronised,
    most_synchronised,
    red_connections,
    red_equilibrium,
    red_queue,
    synchronised,
)

DATA = File(__file__).parents[1] / "data"
TOLERANCE = 0.005


def _rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def _path(row: dict[str, str]) -> Path:
    rtt_ms = float(row.get("rtt_ms", 100.0))
    per_ack = int(row.get("b_pkts_per_ack", 1))
    return Path(float(row["bw_mbps"]) * 1e6, rtt_ms * 1e-3, packets_per_ack=per_ack)


def test_droptail_is_as_worked_out_elsewhere() -> None:
    for row in _rows("parallel_tcp_droptail.csv"):
        path, n = _path(row), int(row["n_conn"])
        buffer = float(row["buffer_over_bdp"]) * path.bdp
        together = synchronised(path, buffer, n)
        apart = desynchronised(path, buffer, n)
        others = desynchronised(replace(path, packets_per_ack=2), buffer, n)
        found = {
            "sync_p": together.loss,
            "sync_noto_thr": synchronised(path, buffer, n, timeouts=False).throughput,
            "sync_thr": together.throughput,
            "sync_goodput": together.goodput,
            "nonsync_b1_p": apart.loss,
            "nonsync_b1_thr": apart.throughput,
            "nonsync_b1_goodput": apart.goodput,
            "nonsync_b2_p": others.loss,
            "nonsync_b2_thr": others.throughput,
        }
        expected = {key: float(row[key]) for key in found}
        assert found == pytest.approx(expected, rel=TOLERANCE), row


def test_the_95_percent_band_is_as_worked_out_elsewhere() -> None:
    for row in _rows("parallel_tcp_band.csv"):
        path = _path(row)
        buffer = float(row["buffer_over_bdp"]) * path.bdp
        found = band(path, buffer)
        assert found is not None
        assert (found.first, found.last) == (int(row["n_lo"]), int(row["n_hi"])), row
        beyond = synchronised(path, buffer, found.last + 1)
        assert beyond.throughput == pytest.approx(float(row["util_past_hi_with_to"]), rel=TOLERANCE)


def test_the_equilibrium_of_red_is_as_worked_out_elsewhere() -> None:
    for row in _rows("parallel_tcp_red.csv"):
        path, red = _path(row), Red()
        found = red_equilibrium(path, red, int(row["n_conn"]))
        assert found is not None
        assert found.loss == pytest.approx(float(row["p_equilibrium"]), rel=TOLERANCE)
        assert found.queue == pytest.approx(float(row["q_equilibrium_pkts"]), rel=TOLERANCE)
        first, last = red_connections(path, red)
        assert first == pytest.approx(float(row["n_min"]), abs=0.006)
        assert last == int(row["n_max"])


@pytest.mark.parametrize(
    ("share", "limit"), [(0.1, 0.8176), (0.2, 0.8710), (0.3, 0.9119), (0.5, 0.9643), (1.0, 1.0)]
)
def test_a_synchronised_saw_tooth_of_many_packets_has_its_limit(share: float, limit: float) -> None:
    # The sawtooth's area gives 3 (1 + f)^2 / (4 (1 + f + f^2)) with a buffer of f BDPs. At windows
    # of 43,690 packets, the growth of one packet per round trip is negligible.
    path = Path(1e12, 0.1, window_bytes=65_536e3)
    n = round(2.0 * path.bdp / path.max_window)
    found = synchronised(path, share * path.bdp, n, timeouts=False)
    assert found.throughput == pytest.approx(limit, abs=6e-5)


def test_curves_of_all_rates_are_one_over_connections_per_packet_of_the_path() -> None:
    slow, fast = Path(100e6, 0.1), Path(10e9, 0.1)
    for n in (25, 60, 150):
        one = synchronised(slow, 0.1 * slow.bdp, n)
        other = synchronised(fast, 0.1 * fast.bdp, 100 * n)
        assert (one.loss, one.goodput) == pytest.approx((other.loss, other.goodput), rel=1e-9)


def test_connections_that_lose_together_get_less_and_the_gap_grows() -> None:
    path = Path(1e9, 0.1)
    gaps = []
    for n in range(240, 2000, 40):
        together = synchronised(path, 0.2 * path.bdp, n)
        apart = desynchronised(path, 0.2 * path.bdp, n)
        assert together.loss > apart.loss > 0
        gaps.append(apart.goodput - together.goodput)
    assert gaps[0] > 0
    assert gaps == sorted(gaps)


def test_below_the_path_s_capacity_nothing_is_lost_and_beyond_it_nothing_wasted() -> None:
    path = Path(100e6, 0.1)
    for model in (synchronised, desynchronised):
        assert model(path, 83.3, 10).throughput == pytest.approx(10 * 43.69 / 833.33, rel=1e-3)
        assert model(path, 83.3, 20).throughput == 1
        assert model(path, 83.3, 20).loss == 0
        assert model(path, 83.3, 21).loss > 0
    # With a buffer above the BDP the queue never becomes empty.
    full = synchronised(path, 2.0 * path.bdp, 60, timeouts=False)
    assert (full.loss > 0, full.throughput) == (True, 1)


def test_synchronised_losses_end_where_all_packets_would_be_lost() -> None:
    path = Path(100e6, 0.1)
    most = most_synchronised(path, 83.3)
    assert 0.99 < synchronised(path, 83.3, most).loss < 1
    with pytest.raises(ValueError, match="the loss rate is 1 or more"):
        synchronised(path, 83.3, most + 1)
    # A band ends there at the latest.
    short = Path(492e3, 0.1, window_bytes=1500.0)
    assert band(short, 0.0) == Band(4, most_synchronised(short, 0.0))


def test_red_s_equilibrium_is_on_both_laws_and_ends_where_the_area_does() -> None:
    path, red = Path(100e6, 0.2), Red()
    first, last = red_connections(path, red)
    losses = []
    for n in (int(first) + 1, 100, 400, last):
        found = red_equilibrium(path, red, n)
        assert found is not None
        assert red.drop(found.queue) == pytest.approx(found.loss, rel=1e-9)
        assert red_queue(path, n, found.loss) == pytest.approx(found.queue)
        losses.append(found.loss)
    assert losses == sorted(losses)
    assert losses[-1] == pytest.approx(red.p_max, rel=0.01)
    assert red_equilibrium(path, red, int(first)) is None
    assert red_equilibrium(path, red, last + 1) is None
