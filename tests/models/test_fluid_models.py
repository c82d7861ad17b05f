"""Delay differential equations and fluid models, against known solutions and packet simulation."""

import json
from math import pi, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import longhaul
from longhaul import _engine
from longhaul.models import delay, fluid_comparison, stability
from longhaul.models.dynamics import MODELLED, Cubic, aimd, of_algorithm
from longhaul.models.fluid import FlowClass, Model
from longhaul.models.isolated import saw_tooth
from longhaul.models.laws import LAWS
from longhaul.models.marking import Custom, DropTail, FluidLink, Marking, Red
from longhaul.models.scenario import (
    OF_FLOWS,
    OF_LINKS,
    OF_REVERSE_DIRECTIONS,
    OF_SCENARIOS,
    OF_TOPOLOGIES,
    UnmodelledError,
    fluid,
)
from longhaul.running.loading import load


def by_steps(t: np.ndarray) -> np.ndarray:
    """Return the solution of x' = -x(t - 1) with x = 1 up to time 0, for times up to 4.

    It is computed by the method of steps.
    """
    x = 1.0 - t
    x += np.where(t > 1, (t - 1) ** 2 / 2, 0.0)
    x -= np.where(t > 2, (t - 2) ** 3 / 6, 0.0)
    return x + np.where(t > 3, (t - 3) ** 4 / 24, 0.0)


def test_the_solver_is_of_second_order() -> None:
    errors = []
    for step in (0.04, 0.02, 0.01):
        found = delay.integrate(lambda t, x, past: [-past(t - 1)[0]], [1.0], 4.0, step)
        errors.append(np.abs(found.states[:, 0] - by_steps(found.t_s)).max())
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.2)


def test_the_solver_oscillates_at_the_edge_of_stability() -> None:
    # The solution of x' = -pi/2 x(t - 1) keeps its amplitude, with a period of four delays.
    found = delay.integrate(lambda t, x, past: [-pi / 2 * past(t - 1)[0]], [1.0], 60.0, 0.005)
    x = found.states[:, 0]
    middle, late = (np.abs(x[(found.t_s >= t) & (found.t_s < t + 4)]).max() for t in (20, 56))
    assert late == pytest.approx(middle, rel=0.005)
    ups = found.t_s[1:][(x[:-1] < 0) & (x[1:] >= 0)]
    assert np.diff(ups)[-5:] == pytest.approx([4.0] * 5, abs=0.01)


def constant_loss(p: float) -> FluidLink:
    return FluidLink(1e9, 1.0, Custom(lambda queue: p))


def test_a_window_comes_to_sqrt_2_over_p() -> None:
    # NIST SP 500-282, equation 10.
    flows = FlowClass(1, 0.1, aimd(), window_pkts=10.0, slow_start=False)
    found = Model([constant_loss(1e-3)], [flows]).run(60.0, steps=50)
    assert found.window_pkts[-1, 0] == pytest.approx(sqrt(2e3), rel=1e-4)


@pytest.mark.parametrize("kind", MODELLED)
def test_windows_at_a_constant_loss_rate_are_near_response_functions(kind: str) -> None:
    # A mean field assumes Poisson losses: standard TCP has sqrt(2 / p), 15 % above sqrt(1.5 / p).
    # H-TCP increases by the mean time since a loss, which adds 20 %; BIC's law assumes each loss at
    # the peak.
    p = 1e-4
    flows = FlowClass(1, 0.1, of_algorithm(kind, 0.1, 1.0), window_pkts=50.0, slow_start=False)
    found = Model([constant_loss(p)], [flows]).run(200.0, steps=4).after(100.0)
    ratio = found.window_pkts[:, 0].mean() / float(LAWS[kind].window(p, 0.1))
    assert 0.75 < ratio < 1.45


def test_one_flow_alone_saws() -> None:
    found = saw_tooth(1000.0, 0.1, 0.0, 40.0)
    assert (found.window_pkts.min(), found.window_pkts.max()) == pytest.approx((50, 100), rel=0.01)
    assert np.diff(found.losses_s) == pytest.approx([5.0] * (len(found.losses_s) - 1), rel=0.01)
    assert found.rate_pps.mean() == pytest.approx(750.0, rel=0.01)
    # With a buffer of one BDP the link is never idle.
    assert saw_tooth(1000.0, 0.1, 100.0, 40.0).rate_pps.min() == pytest.approx(1000.0)


def test_packets_are_conserved() -> None:
    link = FluidLink(1000.0, 50.0, DropTail())
    model = Model([link], [FlowClass(5, 0.1, aimd()), FlowClass(5, 0.2, aimd())])
    found = model.run(30.0, every=1)
    arriving = found.rate_pps.sum(axis=1)
    accepted = arriving * (1.0 - found.loss[:, 0])
    busy = found.queue_pkts[:, 0] > 0.0
    passed = np.where(busy, 1000.0, np.minimum(arriving, 1000.0))
    step = found.t_s[1]
    assert np.sum(accepted - passed) * step == pytest.approx(found.queue_pkts[-1, 0], abs=5.0)
    assert found.queue_pkts.max() <= 50.0


def test_flows_over_two_links_lose_on_both() -> None:
    links = [constant_loss(1e-3), constant_loss(1e-3)]
    both = FlowClass(1, 0.1, aimd(), path=(0, 1), slow_start=False)
    one = FlowClass(1, 0.1, aimd(), path=(0,), slow_start=False)
    found = Model(links, [both, one]).run(60.0, steps=50)
    assert found.window_pkts[-1] == pytest.approx([sqrt(2 / (1 - 0.999**2)), sqrt(2e3)], rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "parameters", "states", "slope"),
    [
        ("ctcp", {"decrease": 0.4, "exponent": 0.0}, [600.0, 400.0], [1.0 - 300.0, -100.0]),
        ("ctcp", {"decrease": 0.4, "exponent": 0.0}, [30.0, 10.0], [1.0 - 15.0, -5.0]),
        ("htcp", {"max_kept": 0.9}, [1000.0, 0.0], [0.2 - 100.0, 1.0]),
        ("constant-rate", {"max_step": 0.01}, [100.0], [1.0 - 50.0]),
    ],
)
def test_windows_obey_the_parameters_of_their_algorithm(
    kind: str, parameters: dict[str, float], states: list[float], slope: list[float]
) -> None:
    # The round-trip time is a second, the queue is empty, and there is a loss per second.
    dynamics = of_algorithm(kind, 1.0, 1.0, parameters)
    assert dynamics.derivative(states, 1.0, 0.0, 1.0) == pytest.approx(slope)


def test_cubic_begins_below_its_peak_and_returns() -> None:
    cubic = Cubic()
    assert cubic.window(cubic.begin(1000.0)) == pytest.approx(700.0)
    assert cubic.window(cubic.at(1000.0)) == pytest.approx(1000.0)


@pytest.mark.parametrize(("b", "stable"), [(pi / 2 - 0.01, True), (pi / 2 + 0.01, False)])
def test_characteristic_roots_cross_at_pi_half(b: float, stable: bool) -> None:
    linear = stability.Linear(np.zeros((1, 1)), [(1.0, np.array([[-b]]))])
    root = linear.rightmost()
    assert (root.real < 0) == stable
    # The root solves its equation.
    assert root + b * np.exp(-root) == pytest.approx(0.0, abs=1e-8)
    assert stability.gain_margin(linear) == pytest.approx(pi / 2 / b, rel=1e-4)


def test_the_exact_condition_agrees_with_the_roots() -> None:
    cases = ((1, 3, 0.6), (1, 3, 0.7), (0.5, 2, 0.9), (2, 1, 50), (1, -2, 1), (-1, 0.5, 1))
    for a, b, lag in cases:
        linear = stability.Linear(np.array([[-a]]), [(lag, np.array([[-b]]))])
        exact = stability.OneDelay(a, b, lag).is_stable()
        assert (linear.rightmost().real < 0) == exact


def test_the_example_of_hollot_and_others() -> None:
    # The example of INFOCOM 2001, section IV: 60 flows, 3750 packets/s, 246 ms, slope 1.86e-4.
    slow, fast = (
        stability.hollot_bound(60, 0.246, 3750.0, 1.86e-4, weight) for weight in (1.33e-6, 1e-4)
    )
    assert slow[0] < slow[1]
    assert fast[0] > fast[1]
    # The bound is only sufficient: by its roots, the model is stable at the smaller weight.
    red = Red(150.0, 150.0 + 0.1 / 1.86e-4, 0.1, 1.33e-6, spacing=1.0)
    model = Model([FluidLink(3750.0, 800.0, red)], [FlowClass(60, 0.2, aimd())])
    at = stability.equilibrium(model)
    assert at.loss[0] == pytest.approx(2.0 / at.window_pkts[0] ** 2, rel=1e-6)
    assert stability.linearised(model, at).rightmost().real < 0.0


@pytest.mark.parametrize("mbps", [1, 10, 200, 1000, 10_000])
@pytest.mark.parametrize("kind", ["reno", "cubic", "ctcp"])
def test_equilibria_are_where_windows_rest(kind: str, mbps: int) -> None:
    link = FluidLink(mbps * 1e6 / 12_000, 40.0, Red(5.0, 15.0, 0.1, 0.002))
    at = stability.equilibrium(Model([link], [FlowClass(3, 0.01, of_algorithm(kind, 0.01, 1.0))]))
    (w,), (p,), rtt = at.window_pkts, at.loss, 0.01 + at.queue_pkts[0] / link.capacity_pps
    assert 3.0 * w / rtt == pytest.approx(link.capacity_pps, rel=1e-6)
    if kind == "cubic":
        # At the equilibrium, a loss comes each time the window returns to its peak.
        assert w * p / rtt * np.cbrt(0.75 * w) == pytest.approx(1.0, rel=1e-6)
    elif kind == "reno" or w < 41.0:
        assert w * w * p == pytest.approx(2.0, rel=1e-6)


def test_links_with_an_equilibrium_each_have_one_together() -> None:
    links = [FluidLink(5000.0 * n, 500.0, Red(50.0, 250.0, 0.02, 1e-4)) for n in (1, 2, 3)]
    short = [FlowClass(5, 0.05, of_algorithm("hstcp", 0.05, 0.1), path=(k,)) for k in range(3)]
    model = Model(links, [FlowClass(3, 0.15, aimd(), path=(0, 1, 2)), *short])
    at = stability.equilibrium(model)
    slope = model.derivative(at.state, [model.lost(n, at.state) for n in range(4)])
    assert slope == pytest.approx([0.0] * model.size, abs=1e-3)


@pytest.mark.parametrize(
    ("marking", "reason"),
    [
        (DropTail(), r"they go to \[500"),
        (Custom(lambda queue: 0.5), r"they go to \[0"),
        (Red(50.0, 60.0, 1e-4, 1e-4, gentle=False), r"they go to \[60"),
    ],
)
def test_without_an_equilibrium_it_is_said_where_queues_go(marking: Marking, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        stability.equilibrium(Model([FluidLink(5e3, 500.0, marking)], [FlowClass(9, 0.1, aimd())]))


@pytest.mark.parametrize(("max_p", "stable"), [(5e-4, True), (4e-3, False)])
def test_trajectories_settle_where_roots_say_so(max_p: float, stable: bool) -> None:
    link = FluidLink(51_833.0, 5183.0, Red(518.0, 2592.0, max_p, 1e-5))
    model = Model([link], [FlowClass(10, 0.1, aimd())])
    linear = stability.linearised(model, stability.equilibrium(model))
    assert (linear.rightmost().real < 0.0) == stable
    assert (stability.gain_margin(linear) > 1.0) == stable
    late = model.run(120.0, steps=25).after(100.0).queue_pkts[:, 0]
    assert (np.ptp(late) < 0.01 * late.mean()) == stable


def ten_flows(queue: dict[str, object]) -> dict[str, object]:
    return {
        "duration": "60 s",
        "measure": {"from": "30 s", "every": "100 ms"},
        "topology": {
            "dumbbell": {"bottleneck": {"rate": "622 Mbps", "delay": "50 ms", "queue": queue}}
        },
        "flows": [{"label": "ten", "count": 10, "start": {"uniform": ["0 s", "1 s"]}}],
    }


RED = {
    "kind": "red", "min_th": "518 packets", "max_th": "2592 packets", "max_p": 1e-3, "weight": 1e-5,
    "gentle": True, "limit": "1 BDP",
}  # fmt: skip


def test_under_red_packets_are_where_the_model_is() -> None:
    scenario = ten_flows(RED)
    scene = fluid(load(scenario))
    pairs = {
        pair.name: pair
        for pair in fluid_comparison.compare(
            scene, fluid_comparison.solve(scene), longhaul.run(scenario)
        )
    }
    assert abs(pairs["window_pkts"].difference) < 0.05
    assert abs(pairs["rate_pps"].difference) < 0.01
    assert abs(pairs["queue_pkts"].difference) < 0.3
    assert abs(pairs["loss"].difference) < 0.5


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"flows": [{"congestion": {"kind": "bbr"}}]}, r"bbr \(`flows.0.congestion`"),
        (
            {"flows": [{"congestion": {"external": "unix:/x"}}]},
            r"a controller in another process \(`flows.0.congestion`",
        ),
        ({"flows": [{"transfer": "1 MB"}]}, r"`flows.0.transfer`"),
        (
            {"flows": [{"congestion": {"kind": "cubic", "variant": "linux-2.6.22"}}]},
            "the variant linux-2.6.22",
        ),
    ],
)
def test_what_the_model_cannot_represent_is_named(change: dict[str, object], named: str) -> None:
    with pytest.raises(UnmodelledError, match=named):
        fluid(load(ten_flows(RED) | change))


def test_a_buffer_may_have_any_unit_of_size() -> None:
    scene = fluid(load(ten_flows({"kind": "droptail", "limit": "1 GiB"})))
    assert scene.model.links[0].buffer_pkts == pytest.approx(2**30 / 1500)


def keys_of(schema: dict[str, Any], *path: str) -> set[str]:
    for name in path:
        schema = schema["items"] if name == "*" else schema["properties"][name]
    return set(schema["properties"])


LINK = ("topology", "dumbbell", "bottleneck")


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ((), OF_SCENARIOS),
        (LINK, OF_LINKS),
        ((*LINK, "reverse"), OF_REVERSE_DIRECTIONS),
        (("flows", "*"), OF_FLOWS),
    ],
)
def test_each_key_that_the_model_does_not_know_is_refused(
    path: tuple[str, ...], known: tuple[str, ...]
) -> None:
    schema = json.loads(_engine.schema())
    keys = keys_of(schema, *path)
    refused = keys - set(known)
    assert refused
    for key in refused:
        resolved = json.loads(load(ten_flows(RED)).resolved_json())
        table: Any = resolved
        for name in path:
            table = table[0] if name == "*" else table[name]
        table[key] = "some value"
        scenario: Any = SimpleNamespace(resolved_json=lambda: json.dumps(resolved))  # noqa: B023
        place = ".".join([*path, key]).replace("*", "0")
        with pytest.raises(UnmodelledError, match=f"`{place}`"):
            fluid(scenario)


def test_the_model_knows_no_key_that_scenarios_do_not_have() -> None:
    schema = json.loads(_engine.schema())
    hop = ("topology", "parking-lot", "hops", "*")
    topologies = keys_of(schema, "topology", "dumbbell") | keys_of(schema, *hop[:2])
    assert set(OF_SCENARIOS) <= keys_of(schema)
    assert set(OF_TOPOLOGIES) <= topologies
    assert set(OF_LINKS) <= keys_of(schema, *LINK) & keys_of(schema, *hop)
    assert set(OF_REVERSE_DIRECTIONS) <= keys_of(schema, *LINK, "reverse")
    assert set(OF_FLOWS) <= keys_of(schema, "flows", "*")


def test_mesonet_has_no_fluid_model() -> None:
    with pytest.raises(UnmodelledError, match="`mesonet`"):
        fluid(load({"mesonet": {"intervals": 1}}))


def test_queues_that_it_does_not_know_are_named() -> None:
    with pytest.raises(UnmodelledError, match="`codel` queues"):
        fluid(load(ten_flows({"kind": "codel"})))
    with pytest.raises(UnmodelledError, match="adaptive RED"):
        fluid(load(ten_flows(RED | {"adaptive": True})))
