"""The hybrid model of NIST SP 500-282, appendix B."""

import pytest

from longhaul import ScenarioError
from longhaul.models import abilene_lee
from longhaul.models.hybrid import Flow, Queue, simulate
from longhaul_studies.nist_2010_models import hybrid


def test_routes_have_the_delays_of_table_b_2() -> None:
    assert [round(1e3 * abilene_lee.rtt_s(route)) for route in abilene_lee.ROUTES] == [30, 58, 138]


@pytest.mark.parametrize("routers", abilene_lee.ROUTERS)
def test_shorter_routes_get_more_than_in_proportion(routers: str) -> None:
    found, measured = abilene_lee.run(25_000, routers=routers, hours=0.5)
    assert measured.throughput_pps.shape == (30, 30)
    assert found.throughput_ratio(1, 2) > 1.0
    assert found.throughput_ratio(1, 3) > found.rtt_ratio(3, 1) > 1.0
    # Data use a whole link, or half of a router, which also forwards ACKs.
    assert found.utilisation == pytest.approx(1.0 if routers == "per-link" else 0.5, rel=0.03)
    # The RTT is at most that with full queues on the whole path.
    queues = 3 if routers == "per-link" else 4
    assert found.rtt_s[0] <= 0.030 + queues * 25_000 / abilene_lee.RATE_PPS


def test_starts_and_hosts_bound_what_is_sent() -> None:
    flows = [Flow(0.1, [0], host_pps=50.0, start_s=30.0)]
    found = simulate([Queue(1000.0, 10.0)], flows, interval_s=10.0, intervals=6)
    assert found.throughput_pps[:3, 0] == pytest.approx([0.0] * 3)
    assert found.throughput_pps[5, 0] == pytest.approx(50.0)
    assert found.reductions.sum() == 0


def test_a_larger_decrease_gets_less() -> None:
    flows = [Flow(0.1, [0], decrease=0.3), Flow(0.1, [0], decrease=0.6)]
    found = simulate([Queue(1000.0, 50.0)], flows, interval_s=2000.0, intervals=2)
    assert found.throughput_pps[1, 0] > 1.3 * found.throughput_pps[1, 1]


def test_what_is_impossible_is_refused() -> None:
    with pytest.raises(ScenarioError, match="buffer must be greater than 0"):
        simulate([Queue(1000.0, 0.0)], [Flow(0.1, [0])], interval_s=1.0, intervals=1)
    with pytest.raises(ScenarioError, match="flow 0 visits a queue that does not exist"):
        simulate([Queue(1000.0, 1.0)], [Flow(0.1, [1])], interval_s=1.0, intervals=1)


@pytest.mark.long
@pytest.mark.parametrize("routers", abilene_lee.ROUTERS)
def test_recorded_rows_come_out_again(routers: str) -> None:
    recorded = next(row for row in hybrid.rows() if row["routers"] == routers)
    again = hybrid.follow((routers, int(recorded["buffer_pkts"]), int(recorded["seed"])))
    recorded.pop("processor_s")
    again.pop("processor_s")
    assert again == recorded
