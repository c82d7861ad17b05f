"""The Gymnasium environment: windows follow actions, and a seed repeats an episode."""

import threading
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import longhaul
from longhaul.learning import CongestionEnv

SCENARIO: dict[str, Any] = {
    "duration": "5 s",
    "measure": {"from": "1 s"},
    "topology": {"dumbbell": {"bottleneck": {"rate": "10 Mbps", "delay": "20 ms"}}},
    "flows": [{"label": "agent", "start": {"uniform": ["0 s", "100 ms"]}}],
}


def _windows(env: CongestionEnv, action: float, seed: int) -> tuple[list[float], longhaul.Results]:
    """Return the windows and results of an episode in which every action is `action`."""
    env.reset(seed=seed)
    windows: list[float] = []
    while True:
        _, _, ended, _, info = env.step(np.array([action]))
        if ended:
            return windows, info["results"]
        windows.append(info["interval"].cwnd)


def test_it_is_an_environment() -> None:
    # Rendering is not tested without a registered name.
    with pytest.warns(UserWarning, match="render modes"):
        check_env(CongestionEnv(SCENARIO))


def test_the_window_is_what_the_actions_make_it() -> None:
    """Check that each round trip multiplies the window by 1.25^action, even after losses."""
    windows, _ = _windows(CongestionEnv(SCENARIO), 0.5, seed=1)
    growth = np.array(windows[1:]) / windows[:-1]
    assert len(growth) > 20
    assert growth[:20] == pytest.approx(1.25**0.5)
    small, results = _windows(CongestionEnv(SCENARIO), -1.0, seed=1)
    assert small[-1] == 2.0
    # Two segments are acknowledged together every 42.4 ms: a round trip and their transmission.
    assert results.flows["goodput_bps"][0] == pytest.approx(2 * 1448 * 8 / 0.0424, rel=0.01)


@pytest.mark.parametrize("packet", ["1500 B", "9000 B"])
def test_a_step_of_a_flow_that_sends_in_bursts_is_a_round_trip(packet: str) -> None:
    settings = ['topology.dumbbell.bottleneck.rate="1 Gbps"', f'flows.agent.packet="{packet}"']
    env = CongestionEnv(SCENARIO, set=settings)
    seen, _ = env.reset(seed=1)
    for _ in range(30):
        # The window of 10 segments is the product of throughput and RTT.
        assert seen == pytest.approx([1, 0, 0, 0, 0], abs=0.01)
        seen, _, _, _, info = env.step(np.zeros(1))
        interval = info["interval"]
        assert interval.duration_s == pytest.approx(interval.min_rtt_s, rel=0.01)
    env.close()


def test_a_seed_repeats_an_episode() -> None:
    env = CongestionEnv(SCENARIO)
    runs = [_windows(env, 0.1, seed)[1].flows.drop("name") for seed in (3, 3, 4)]
    assert runs[0].equals(runs[1])
    assert not runs[0].equals(runs[2])


def test_several_flows_take_turns() -> None:
    flows = [SCENARIO["flows"][0] | {"count": 3}]
    env = CongestionEnv(SCENARIO | {"flows": flows})
    _, info = env.reset(seed=1)
    turns = [info["agent"]]
    for _ in range(60):
        turns.append(env.step(np.zeros(1))[4]["agent"])
    env.close()
    assert set(turns) == {0, 1, 2}
    assert max(turns.count(agent) for agent in range(3)) < 30


def test_an_episode_may_be_left_and_bad_input_is_told() -> None:
    env = CongestionEnv(SCENARIO)
    before = threading.active_count()
    for seed in range(3):
        env.reset(seed=seed)
        env.step(np.zeros(1))
    env.close()
    assert threading.active_count() == before
    with pytest.raises(longhaul.LonghaulError, match="expected reset first"):
        env.step(np.zeros(1))
    _windows(env, 0.0, seed=1)
    with pytest.raises(longhaul.LonghaulError, match="expected reset first"):
        env.step(np.zeros(1))
    with pytest.raises(longhaul.LonghaulError, match="unknown label `nobody`"):
        CongestionEnv(SCENARIO, label="nobody").reset()
    with pytest.raises(longhaul.LonghaulError, match="duration"):
        CongestionEnv(SCENARIO, set=["duration=3"]).reset()
