"""Fluid models of TCP: delay differential equations of many flows over one or more links.

Misra, Gong and Towsley, "Fluid-based analysis of a network of AQM routers supporting TCP flows with
an application to RED", SIGCOMM 2000; equations 7 to 9 of NIST SP 500-282 (2010) are the same for
one link without RED. A class of flows has one mean window `w`; its round-trip time `R` is that of
the empty path plus queueing delays:

    dq/dt = sum n w / R - C                 between an empty and a full queue
    dw/dt = a(w) / R - b(w) w events        events = p(t - R) w(t - R) / R(t - R), at most 1 / R

Here, `q` is the queue of a link with capacity `C`, and `n` the number of flows. A window grows by
`a(w)` per round trip. A loss event lowers it by the fraction `b(w)`. `p` is the loss rate on the
path. All losses within a round trip are one event; the papers lack this limit, but slow start into
a full queue needs it. Mean windows cannot show the sawteeth of a few synchronised flows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longhaul.models import delay
from longhaul.models.dynamics import Dynamics
from longhaul.models.marking import FluidLink
from longhaul.models.response import Numbers

# Number of steps per shortest round-trip time.
STEPS = 100
# Number of states of a link: the queue and its average.
OF_LINK = 2


@dataclass(frozen=True)
class FlowClass:
    """Flows of one algorithm and one path."""

    count: int
    rtt_s: float
    dynamics: Dynamics
    path: Sequence[int] = (0,)
    """Indices of the links on the path."""
    window_pkts: float = 10.0
    """Initial mean window."""
    slow_start: bool = True
    """True if the model begins with slow start.

    The window then grows by a segment per ACK: by the factor e (2.72) per round trip while no link
    is overloaded. Slow start ends when each flow has lost a packet on average, or the window
    reaches `ssthresh_pkts`.
    """
    ssthresh_pkts: float = np.inf
    start_s: float = 0.0


@dataclass(frozen=True)
class Trajectory:
    """The solution of a fluid model: a row for each point in time."""

    t_s: Numbers
    window_pkts: Numbers
    """Mean window of the flows of each class; shape: times x classes."""
    queue_pkts: Numbers
    """Queue length of each link; shape: times x links."""
    loss: Numbers
    """Loss rate of each link; shape: times x links."""
    rate_pps: Numbers
    """Total sending rate of the flows of each class; shape: times x classes."""
    rtt_s: Numbers
    states: Numbers
    """State variables of the model; shape: times x variables."""

    def after(self, t_s: float) -> Trajectory:
        """Return the solution from time `t_s` on."""
        late = self.t_s >= t_s
        return Trajectory(*(values[late] for values in vars(self).values()))


class Model:
    """Fluid model: links, and classes of flows over them."""

    def __init__(self, links: Sequence[FluidLink], classes: Sequence[FlowClass]) -> None:
        self.links = links
        self.classes = classes
        self.gains = [link.marking.gain(link) for link in links]
        self.places: list[slice] = []
        at = OF_LINK * len(links)
        for class_ in classes:
            size = len(class_.dynamics.begin(class_.window_pkts)) + 1
            self.places.append(slice(at, at + size))
            at += size
        self.size = at

    # The states of a class are its window in slow start, negative after slow start, and then those
    # of its dynamics.

    def window(self, number: int, x: Sequence[float]) -> float:
        """Return the mean window of the class with index `number` in state `x`."""
        starting, *states = x[self.places[number]]
        return starting if starting >= 0.0 else self.classes[number].dynamics.window(states)

    def rtt(self, number: int, x: Sequence[float]) -> float:
        """Return the round-trip time in seconds of the class with index `number` in state `x`."""
        class_ = self.classes[number]
        return class_.rtt_s + sum(x[OF_LINK * k] / self.links[k].capacity_pps for k in class_.path)

    def rates(self, x: Sequence[float], t: float = np.inf) -> list[float]:
        """Return the sending rate of each class in state `x` at time `t`, in packets per second."""
        return [
            class_.count * self.window(n, x) / self.rtt(n, x) if t >= class_.start_s else 0.0
            for n, class_ in enumerate(self.classes)
        ]

    def _arriving(self, rates: Sequence[float]) -> list[float]:
        """Return the packets per second that arrive at each link, given the classes' `rates`."""
        arriving = [0.0] * len(self.links)
        for class_, rate in zip(self.classes, rates, strict=True):
            for k in class_.path:
                arriving[k] += rate
        return arriving

    def losses(self, x: Sequence[float], rates: Sequence[float]) -> list[float]:
        """Return the loss rate of each link in state `x`, given the `rates` of all classes."""
        arriving = self._arriving(rates)
        return [
            link.marking.probability(x[OF_LINK * k], x[OF_LINK * k + 1], arriving[k], link)
            for k, link in enumerate(self.links)
        ]

    def lost(self, number: int, x: Sequence[float], t: float = np.inf) -> float:
        """Return the packets per second that one flow of class `number` loses in state `x`."""
        rates = self.rates(x, t)
        losses = self.losses(x, rates)
        class_ = self.classes[number]
        kept = 1.0
        for k in class_.path:
            kept *= 1.0 - losses[k]
        return (1.0 - kept) * rates[number] / class_.count

    def derivative(
        self, x: Sequence[float], lost: Sequence[float], t: float = np.inf
    ) -> list[float]:
        """Return the derivative of state `x` at time `t`.

        `lost` are the packets per second that one flow of each class then detects as lost.
        """
        out: list[float] = [0.0] * self.size
        inflow = self._arriving(self.rates(x, t))
        for k, link in enumerate(self.links):
            q, average = x[OF_LINK * k], x[OF_LINK * k + 1]
            net = inflow[k] - link.capacity_pps
            if (net > 0.0 and q < link.buffer_pkts) or (net < 0.0 and q > 0.0):
                out[OF_LINK * k] = net
            out[OF_LINK * k + 1] = self.gains[k] * (q - average)
        for n, class_ in enumerate(self.classes):
            if t < class_.start_s:
                continue
            place = self.places[n]
            rtt = self.rtt(n, x)
            starting, *states = x[place]
            if starting >= 0.0:
                # Slow start adds a segment per ACK; ACKs arrive no faster than the links serve
                # packets.
                served = min(min(1.0, self.links[k].capacity_pps / inflow[k]) for k in class_.path)
                out[place.start] = served * starting / rtt
            else:
                out[place.start + 1 : place.stop] = class_.dynamics.derivative(
                    states, rtt, rtt - class_.rtt_s, min(lost[n], 1.0 / rtt)
                )
        return out

    def moving(self) -> list[int]:
        """Return the indices of the state variables that can change after slow start."""
        averages = [OF_LINK * k + 1 for k, gain in enumerate(self.gains) if gain]
        queues = [OF_LINK * k for k in range(len(self.links))]
        return sorted(queues + averages) + [
            at for place in self.places for at in range(place.start + 1, place.stop)
        ]

    def run(self, end_s: float, *, steps: int = STEPS, every: int = 10) -> Trajectory:
        """Solve the model until `end_s`, with `steps` steps per shortest round-trip time.

        The solution contains every `every`-th step.
        """
        step = min(class_.rtt_s for class_ in self.classes) / steps
        heard = [0.0] * len(self.classes)

        def derivative(t: float, x: delay.State, past: delay.Past) -> list[float]:
            for n in range(len(self.classes)):
                at = t - self.rtt(n, x)
                heard[n] = self.lost(n, past(at), at)
            return self.derivative(x, heard, t)

        losses = [0.0] * len(self.classes)

        def project(t: float, x: delay.State) -> None:
            for k, link in enumerate(self.links):
                x[OF_LINK * k] = min(max(x[OF_LINK * k], 0.0), link.buffer_pkts)
            for n in range(len(self.classes)):
                if x[self.places[n].start] >= 0.0:
                    losses[n] += heard[n] * step
                    self._end_slow_start(n, x, lost=losses[n] >= 1.0)

        solution = delay.integrate(derivative, self._initial(), end_s, step, project, every)
        return self._trajectory(solution)

    def _initial(self) -> list[float]:
        x = [0.0] * self.size
        for class_, place in zip(self.classes, self.places, strict=True):
            x[place] = [class_.window_pkts, *class_.dynamics.begin(class_.window_pkts)]
        return x

    def _end_slow_start(self, number: int, x: delay.State, *, lost: bool) -> None:
        class_, place = self.classes[number], self.places[number]
        window = x[place.start]
        if lost:
            x[place] = [-1.0, *class_.dynamics.begin(window)]
        elif not class_.slow_start or window >= class_.ssthresh_pkts:
            x[place] = [-1.0, *class_.dynamics.at(window)]

    def _trajectory(self, solution: delay.Solution) -> Trajectory:
        states = solution.states.tolist()
        classes = range(len(self.classes))
        times = solution.t_s.tolist()
        rates = [self.rates(x, t) for t, x in zip(times, states, strict=True)]
        return Trajectory(
            solution.t_s,
            np.array([[self.window(n, x) for n in classes] for x in states]),
            solution.states[:, 0 : OF_LINK * len(self.links) : OF_LINK],
            np.array([self.losses(x, rate) for x, rate in zip(states, rates, strict=True)]),
            np.array(rates),
            np.array([[self.rtt(n, x) for n in classes] for x in states]),
            solution.states,
        )
