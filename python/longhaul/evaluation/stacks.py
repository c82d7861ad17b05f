"""Contenders that are a congestion control of a QUIC stack, such as `quinn:bbr`.

The flows of such a contender run in the stack. If an experiment needs a feature that the stack
lacks, the experiment is not evaluated, and the page gives the reason.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from longhaul import _engine
from longhaul._engine import ScenarioError
from longhaul.campaign.sweep import Run

# Key in a contender's table for the settings of its stack.
STACK = "stack"
PATTERN = re.compile(r"(?P<kind>[\w-]+):(?P<congestion>[\w-]+)")
# Parts of a message for authors of scenarios only: the place of the key, and advice.
ADVICE = re.compile(r"^.*?(?=flows\.)|; leave it out$| \(this value: [^()]*\)$")

# Topology of a minimal scenario, which checks a contender.
TOPOLOGY = {"dumbbell": {"bottleneck": {"rate": "10 Mbps", "delay": "20 ms"}}}


def table(written: str) -> dict[str, Any] | None:
    """Return the settings of a QUIC contender; None if `written` is not `STACK:CONGESTION`.

    Raises:
        ScenarioError: this build has no such stack, or the stack has no such congestion control.

    """
    parts = PATTERN.fullmatch(written)
    if parts is None:
        return None
    stack = parts.groupdict()
    flow = {"protocol": "quic", STACK: stack}
    scenario = {"duration": "1 s", "topology": TOPOLOGY, "flows": [flow]}
    _engine.Scenario.parse(json.dumps(scenario), written)
    return {STACK: stack}


def placed(run: Run) -> Run:
    """Return the run with the flows of QUIC contenders on the QUIC stack instead of TCP."""
    flows = [_placed(flow) for flow in run.scenario["flows"]]
    return replace(run, scenario={**run.scenario, "flows": flows})


def _placed(flow: Mapping[str, Any]) -> dict[str, Any]:
    congestion = flow.get("congestion", {})
    if STACK not in congestion:
        return dict(flow)
    others = {key: value for key, value in flow.items() if key != "congestion"}
    return {**others, "protocol": "quic", STACK: congestion[STACK]}


def refused(runs: Sequence[Run]) -> dict[str, str]:
    """Return the experiments that a contender's QUIC stack does not support, with the reasons.

    Only an experiment's first run with a stack is checked. Any error in its scenario counts as a
    reason, so the scenario must be the suite's, without a user's settings.
    """
    reasons: dict[str, str] = {}
    seen: set[str] = set()
    for run in runs:
        uses_stack = any(STACK in flow for flow in run.scenario["flows"])
        if not uses_stack or run.experiment in seen:
            continue
        seen.add(run.experiment)
        try:
            run.resolved  # noqa: B018
        except ScenarioError as error:
            reasons[run.experiment] = re.sub(ADVICE, "", str(error).splitlines()[0])
    return reasons
