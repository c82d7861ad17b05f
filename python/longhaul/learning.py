"""Congestion control as an environment of Gymnasium: an agent sets the window of a flow.

    env = CongestionEnv("mine.toml")  # a scenario with flows labelled `agent`
    observation, info = env.reset(seed=1)
    while True:
        action = policy(observation)
        observation, reward, terminated, truncated, info = env.step(action)
        if terminated:
            break

A step is a round trip of a flow. If several flows have the label, steps follow the order of their
round trips in the simulation, and `info["agent"]` is the number of the flow. The simulation runs in
a thread that waits for each action.

The package gymnasium is an optional dependency: `pip install longhaul[learn]`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, ClassVar

import gymnasium
import numpy as np

from longhaul._engine import LonghaulError, Scenario
from longhaul.campaign.template import filled_in, read_template
from longhaul.congestion import Ack, Congestion, CongestionControl, Timeout, Window
from longhaul.results import Results
from longhaul.running.execution import run_loaded
from longhaul.running.loading import load

# Maximum factor by which a step multiplies or divides the window.
LARGEST_STEP = 1.25
SMALLEST_WINDOW = 2.0
# Bits of a 1500-byte packet, the unit of rewards.
PACKET_BITS = 12_000


@dataclass(frozen=True)
class Interval:
    """Measurements of one flow during one round trip."""

    agent: int
    """Number of the flow among those that the agent controls, from 0, in order of first actions."""
    now_s: float
    duration_s: float
    """Time since the end of the previous interval."""
    throughput_bps: float
    """Rate of delivered segments, in bits on the wire per second."""
    rtt_s: float
    """Smoothed round-trip time; `min_rtt_s` is the smallest RTT so far."""
    min_rtt_s: float
    lost: float
    """Lost segments divided by lost and delivered segments."""
    cwnd: float
    """Window before the action, in segments."""
    segment_bytes: int
    """Bytes of a full segment on the wire."""


def aurora(interval: Interval) -> float:
    """Return the reward 10 throughput - 1000 latency - 2000 loss.

    Throughput is in packets of 1500 bytes per second, latency in seconds, and loss a fraction.
    Source: Jay, Rotman, Godfrey, Schapira and Tamar, "A Deep Reinforcement Learning Perspective on
    Internet Congestion Control" (ICML 2019), section 4.
    """
    packets_per_s = interval.throughput_bps / PACKET_BITS
    return 10 * packets_per_s - 1000 * interval.rtt_s - 2000 * interval.lost


class CongestionEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """A scenario in which an agent controls some of the flows.

    The action `a` is a number from -1 to 1: the window is multiplied by `1.25^a`, but does not fall
    below 2 segments. The observation has five numbers, each clipped to -10 and 10: the throughput
    divided by its maximum so far; the RTT divided by its minimum, minus 1; the rate of change of
    the RTT; the fraction of segments lost; and the window divided by the product of maximum
    throughput and minimum RTT, minus 1.
    """

    def __init__(
        self,
        scenario: str | Path | Mapping[str, Any],
        *,
        label: str = "agent",
        reward: Callable[[Interval], float] = aurora,
        set: Sequence[str] = (),
    ) -> None:
        """Create an environment from a scenario's file or tables.

        `label` is the label of the flows to control, `reward` a function of an interval's
        measurements, and `set` has settings such as `duration="20 s"`. The seed of the environment
        selects the replications that it simulates.
        """
        if isinstance(scenario, Mapping):
            self.scenario, self.beside = dict(scenario), Path()
        else:
            file = Path(scenario)
            self.scenario, self.beside = read_template(file, file.name), file.parent
        self.label = label
        self.reward = reward
        self.settings = list(set)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-10.0, 10.0, (5,), np.float32)
        self.results: Results | None = None
        """Results of the last completed run."""
        self._episode: _Episode | None = None
        self._observers: dict[int, _Observer] = {}
        self._last = np.zeros(5, np.float32)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin a new run with other random numbers; `options["set"]` has settings for this run."""
        super().reset(seed=seed)
        self.close()
        more = list((options or {}).get("set", ()))
        replication = int(self.np_random.integers(2**31))
        settings = [*self.settings, *more, f"replication={replication}"]
        self._observers = {}
        self._episode = _Episode(self.scenario, self.beside, self.label, settings)
        interval = self._episode.next()
        if interval is None:
            raise LonghaulError(f"no flow with the label {self.label} has had a round trip")
        return self._seen(interval), {"agent": interval.agent, "interval": interval}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Set the window of the flow whose round trip has ended; simulate until the next step.

        Observation and reward are those of the next round trip that ends, which may be of another
        flow (`info["agent"]`). At the end of the run, the reward is 0, the observation is the last
        one, and `info` has only the `results`.
        """
        if self._episode is None or not self._episode.waits:
            raise LonghaulError("step: expected reset first")
        power = float(np.clip(np.asarray(action, float).reshape(-1)[0], -1, 1))
        interval = self._episode.next(LARGEST_STEP**power)
        if interval is None:
            self.results = self._episode.results
            return self._last, 0.0, True, False, {"results": self.results}
        reward = self.reward(interval)
        info = {"agent": interval.agent, "interval": interval}
        return self._seen(interval), float(reward), False, False, info

    def close(self) -> None:
        """End the current run, if there is one."""
        if self._episode is not None:
            self._episode.stop()
            self._episode = None

    def _seen(self, interval: Interval) -> np.ndarray:
        observer = self._observers.setdefault(interval.agent, _Observer())
        self._last = observer.observe(interval)
        return self._last


class _Observer:
    """Normaliser of a flow's observations; stores its highest throughput and previous RTT."""

    def __init__(self) -> None:
        self.largest_bps = 0.0
        self.before_s: float | None = None

    def observe(self, interval: Interval) -> np.ndarray:
        self.largest_bps = max(self.largest_bps, interval.throughput_bps)
        before_s = interval.rtt_s if self.before_s is None else self.before_s
        self.before_s = interval.rtt_s
        carried = self.largest_bps * interval.min_rtt_s / (8 * interval.segment_bytes)
        values = (
            interval.throughput_bps / max(self.largest_bps, 1.0),
            interval.rtt_s / max(interval.min_rtt_s, 1e-9) - 1,
            (interval.rtt_s - before_s) / max(interval.duration_s, 1e-9),
            interval.lost,
            interval.cwnd / max(carried, 1.0) - 1,
        )
        seen: np.ndarray = np.clip(np.array(values), -10, 10).astype(np.float32)
        return seen


class _StoppedError(Exception):
    """Exception that ends a run which the environment no longer needs."""


class _Episode:
    """A simulation in its own thread, which waits for an action after each interval."""

    of: ClassVar[dict[int, _Episode]] = {}
    numbers = itertools.count()

    def __init__(
        self, scenario: Mapping[str, Any], beside: Path, label: str, settings: Sequence[str]
    ) -> None:
        self.intervals: SimpleQueue[Interval | None] = SimpleQueue()
        self.factors: SimpleQueue[float | None] = SimpleQueue()
        self.agents = itertools.count()
        self.results: Results | None = None
        self.error: BaseException | None = None
        self.waits = False
        self.number = next(self.numbers)
        self.of[self.number] = self
        congestion = {"python": Agent, "episode": self.number}
        filled = filled_in(scenario, {f"flows.{label}.congestion": congestion})
        loaded = load(filled, settings, beside=beside)
        self.thread = Thread(target=self._run, args=(loaded,), daemon=True)
        self.thread.start()

    def _run(self, scenario: Scenario) -> None:
        try:
            self.results = run_loaded(scenario, out=None)
        except BaseException as error:
            # The thread that waits for the run raises the error again.
            self.error = error
        self.intervals.put(None)

    def next(self, factor: float | None = None) -> Interval | None:
        """Give the simulation an action for the last interval, and wait for the next interval.

        `factor` multiplies the window; it is None at the start. Return None at the end of the run.
        """
        if self.waits:
            self.factors.put(factor)
        interval = self.intervals.get()
        self.waits = interval is not None
        if interval is None:
            self.of.pop(self.number, None)
            if self.error is not None:
                raise self.error
        return interval

    def stop(self) -> None:
        """End the run; do not raise the run's error again."""
        if self.waits:
            self.factors.put(None)
        self.thread.join()
        self.of.pop(self.number, None)

    def ask(self, interval: Interval) -> float:
        """Return the factor by which the agent multiplies its window after `interval`."""
        self.intervals.put(interval)
        factor = self.factors.get()
        if factor is None:
            raise _StoppedError
        return factor


class Agent(CongestionControl):
    """Algorithm of a flow: its window changes only by actions, one per round trip."""

    phases = "all"

    def __init__(self, episode: int) -> None:
        """Create the algorithm of a flow in the run with number `episode`."""
        self.episode = _Episode.of[episode]
        self.number: int | None = None
        self.since_s: float | None = None
        self.delivered = 0
        self.lost = 0
        self.in_flight = 0

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Ask the environment for the next window if a round trip has ended.

        A round trip ends when a segment that was sent after its beginning is acknowledged. Rounds
        of `on_round` end at the last segment sent before; of a flow that sends in bursts, some
        would be shorter than an RTT.
        """
        arrived, missing = ack.delivered - self.delivered, ack.lost - self.lost
        since_s = self.since_s
        if since_s is not None and (arrived + missing <= self.in_flight or ack.now_s <= since_s):
            return
        self.since_s, self.in_flight = ack.now_s, ack.in_flight
        self.delivered, self.lost = ack.delivered, ack.lost
        if since_s is None:
            return
        if self.number is None:
            self.number = next(self.episode.agents)
        duration_s = ack.now_s - since_s
        interval = Interval(
            agent=self.number,
            now_s=ack.now_s,
            duration_s=duration_s,
            throughput_bps=8 * ack.segment_bytes * arrived / duration_s,
            rtt_s=ack.srtt_s,
            min_rtt_s=ack.min_rtt_s,
            lost=missing / max(arrived + missing, 1),
            cwnd=window.cwnd,
            segment_bytes=ack.segment_bytes,
        )
        # Only the agent opens the window: the flow is never in slow start.
        window.ssthresh = SMALLEST_WINDOW
        window.cwnd = max(SMALLEST_WINDOW, window.cwnd * self.episode.ask(interval))

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """Keep the window: the agent learns of the losses with the next interval."""

    def on_timeout(self, event: Timeout, window: Window) -> None:
        """Keep the window: only the environment sets it."""
