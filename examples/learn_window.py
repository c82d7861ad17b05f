"""Agent that learns to set a window in a minute or two: `python examples/learn_window.py`.

A linear policy with five weights and a constant is found by the cross-entropy method (Rubinstein
1999): draw policies around a mean, keep the best quarter, and repeat with their mean. It is trained
on links of 5 to 20 Mbit/s and 20 to 60 ms, and then compared with CUBIC on another link. The script
needs the package gymnasium: `pip install longhaul[learn]`.
"""

import numpy as np

import longhaul
from longhaul.learning import CongestionEnv, Interval

POLICIES, BEST, GENERATIONS, EPISODES = 24, 6, 12, 3
SCENARIO = {
    "duration": "10 s",
    "measure": {"from": "5 s"},
    "topology": {"dumbbell": {"bottleneck": {"rate": "10 Mbps", "delay": "20 ms"}}},
    "flows": [{"label": "agent"}],
}


def reward(interval: Interval) -> float:
    """Return the logarithm of the power: doubling throughput is worth as much as halving delay."""
    lost = 10 * interval.lost
    return float(np.log(max(interval.throughput_bps, 1e3)) - np.log(interval.rtt_s)) - lost


def episode(env: CongestionEnv, weights: np.ndarray, link: tuple[float, float], seed: int) -> float:
    """Return the mean reward of a policy on a link, given by Mbit/s and one-way delay in ms."""
    bottleneck = "topology.dumbbell.bottleneck"
    settings = [f'{bottleneck}.rate="{link[0]} Mbps"', f'{bottleneck}.delay="{link[1]} ms"']
    seen, _ = env.reset(seed=seed, options={"set": settings})
    rewards = []
    while True:
        action = np.tanh(weights[:-1] @ seen + weights[-1:])
        seen, gained, ended, _, _ = env.step(action)
        if ended:
            return float(np.mean(rewards))
        rewards.append(gained)


def main() -> None:
    """Train the agent, then compare it with CUBIC."""
    random = np.random.default_rng(1)
    env = CongestionEnv(SCENARIO, reward=reward)
    mean, spread = np.zeros(6), np.ones(6)
    for generation in range(GENERATIONS):
        links = [tuple(random.uniform((5, 10), (20, 30)).round(1)) for _ in range(EPISODES)]
        drawn = mean + spread * random.standard_normal((POLICIES, 6))
        scores = [
            np.mean([episode(env, weights, link, generation) for link in links])
            for weights in drawn
        ]
        best = drawn[np.argsort(scores)[-BEST:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        print(f"generation {generation + 1:2}: best {max(scores):.3f}, mean {np.mean(scores):.3f}")
    print("weights", mean.round(2))
    episode(env, mean, (30.0, 40.0), seed=99)
    learned = env.results
    bottleneck = {"rate": "30 Mbps", "delay": "40 ms"}
    cubic = longhaul.run(SCENARIO | {"topology": {"dumbbell": {"bottleneck": bottleneck}}})
    for name, run in (("learned", learned), ("CUBIC", cubic)):
        flow = run.flows.row(0, named=True)
        print(
            f"{name:8} {flow['goodput_bps'] / 1e6:5.1f} Mbit/s, {1e3 * flow['rtt_mean_s']:5.1f} ms"
        )


if __name__ == "__main__":
    main()
