"""Calibration: search for the rate of new connections that gives a wanted load on a link.

The method is that of the evaluation of Sync-TCP (Weigle, dissertation, UNC Chapel Hill 2003, Table
A.3). All links get a constant rate, ten times the scenario's, so that they hardly limit the flows;
then the bytes that reach a link are the offered load. The rates found are used in the original
network. With a given seed, the requested sizes are the same at every rate, so the load is a smooth
function of the rate.
"""

import copy
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from longhaul._engine import LonghaulError, bits_per_second, seconds
from longhaul.files.names import suggestion, unknown
from longhaul.running.execution import run
from longhaul.running.loading import ScenarioSource, load

# Factor by which links are faster than in the scenario, and keys that make a link slower at times.
SPEED = 10
SLOWER = ("changes", "changes_period", "delivery_trace", "policer", "shaper")
# Tolerance, as a fraction of the wanted load.
TOLERANCE = 0.005
MOST_RUNS = 12
# Kinds of traffic that open connections at a rate.
KINDS = ("abt", "packmime", "requests")
# Parameters of distributions of the time between connections that are proportional to this time.
SCALES = ("mean", "median", "scale", "min", "max", "limit")

Document = dict[str, Any]


class CalibrationError(LonghaulError):
    """Error: no rate gives the wanted load."""


@dataclass(frozen=True)
class Calibration:
    """Rates of new connections that give a wanted load."""

    # Overrides of the scenario, by key.
    settings: dict[str, float | str]
    # Factors that multiplied the scenario's rates, each with the measured load.
    steps: list[tuple[float, float]]
    # Loads at the same rates with other random numbers.
    others: list[float]

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest load over all replications that were simulated."""
        return min([self.load, *self.others]), max([self.load, *self.others])

    @property
    def load(self) -> float:
        """Measured load at the calibrated connection rates, as a fraction of the link's rate."""
        return self.steps[-1][1]

    def as_json(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON."""
        return {
            "settings": self.settings,
            "load": self.load,
            "steps": self.steps,
            "others": self.others,
        }


def calibrate(
    scenario: ScenarioSource,
    *,
    load: float,
    link: str = "bottleneck",
    labels: Sequence[str] | None = None,
    set: Sequence[str] = (),
    others: int = 4,
    progress: bool = False,
) -> Calibration:
    """Find the factor for the rates of the flows with `labels` that gives the load on a link.

    `load` is a fraction of the link's rate. Without `labels`, the factor applies to all `abt`,
    `packmime` and `requests` traffic. `others` more replications then show the scatter of the load,
    which is large for heavy-tailed sizes in short runs. Each run takes the scenario's duration,
    regardless of its `measure.stop`. `progress` shows the runs on the terminal.
    """
    document = _resolve(scenario, set)
    groups = _groups(document, labels)
    rate = _rates(document).get(link)
    if rate is None:
        raise CalibrationError(unknown("link", link, _rates(document)))
    if not load > 0:
        raise CalibrationError(f"expected a load greater than 0, found {load:g}")

    def measure(factor: float, further: int = 0) -> float:
        faster = _faster(document)
        faster["replication"] += further
        for index in groups:
            _scale(faster["flows"][index]["traffic"], factor)
        if progress:
            print(_announced(faster, factor, further), file=sys.stderr, flush=True)
        results = run(faster, progress=progress)
        # All bytes that reach the link in the measurement window.
        arrived = results.links.filter(name=link)["arrived_bytes"][0]
        return float(arrived * 8 / results.measured_s) / rate

    steps = _search(measure, load)
    settings: dict[str, float | str] = {}
    for index in groups:
        traffic = copy.deepcopy(document["flows"][index]["traffic"])
        settings |= {
            f"flows.{index}.traffic.{key}": value
            for key, value in _scale(traffic, steps[-1][0]).items()
        }
    shares = [measure(steps[-1][0], further) for further in range(1, others + 1)]
    return Calibration(settings, steps, shares)


def _announced(document: Document, factor: float, further: int) -> str:
    """Return a progress message on the next run: its duration, and the factor on the rates.

    `further` is added to the scenario's `replication`; 0 during the search.
    """
    other = f", other random numbers ({further})" if further else ""
    return f"{document['duration']} at {factor:.4g} times the rates{other}"


def _search(measure: Callable[[float], float], wanted: float) -> list[tuple[float, float]]:
    """Search for the factor on the rates that gives the load `wanted`, by the secant method.

    Return the factors tried, each with its load. The first secant starts at (0, 0), because the
    load is nearly proportional to the factor.
    """
    steps = [(1.0, measure(1.0))]
    before = (0.0, 0.0)
    while abs(steps[-1][1] / wanted - 1) > TOLERANCE:
        factor, reached = steps[-1]
        slope = (reached - before[1]) / (factor - before[0])
        following = factor + (wanted - reached) / slope if slope > 0 else 0.0
        if following <= 0 or len(steps) == MOST_RUNS:
            raise CalibrationError(
                f"no rate gives a load of {wanted:.1%}: {reached:.1%} at {factor:.3g} times the "
                "scenario's; other flows may load the link, or the run is too short"
            )
        before = steps[-1]
        steps.append((following, measure(following)))
    return steps


def _resolve(scenario: ScenarioSource, set: Sequence[str]) -> Document:
    document: Document = json.loads(load(scenario, set).resolved_json())
    # Series are not needed; a stopping rule would end each run at a different time.
    document["measure"] |= {"every": "never", "events": False, "capture": []}
    document["measure"].pop("stop", None)
    return document


def _groups(document: Document, labels: Sequence[str] | None) -> list[int]:
    """Return the indices of flow groups that open connections at a rate; `labels` selects some."""
    scalable = {
        flow["label"]: index
        for index, flow in enumerate(document["flows"])
        if flow.get("traffic", {}).get("kind") in KINDS
    }
    for label in labels or ():
        if label not in scalable:
            end = suggestion(label, scalable)
            raise CalibrationError(f"no flows `{label}` open connections at a rate{end}")
    if not scalable:
        raise CalibrationError(
            "no flows open connections at a rate; `abt`, `packmime` and `requests` traffic do"
        )
    return [scalable[label] for label in labels or scalable]


def _links(document: Document) -> list[tuple[str, Document]]:
    """Return the links of the topology with their names."""
    topology = document["topology"]
    if "dumbbell" in topology:
        return [("bottleneck", topology["dumbbell"]["bottleneck"])]
    if "parking-lot" in topology:
        return [(f"hop-{n}", hop) for n, hop in enumerate(topology["parking-lot"]["hops"])]
    return [(link["name"], link) for link in topology["graph"]["links"]]


def _rates(document: Document) -> dict[str, int]:
    """Return the rates of all directions of the topology's links, in bit/s."""
    rates = {}
    for name, link in _links(document):
        rates[name] = bits_per_second(link["rate"])
        if link.get("duplex", True):
            back = link.get("reverse", {}).get("rate", link["rate"])
            rates[f"{name}-reverse"] = bits_per_second(back)
    return rates


def _faster(document: Document) -> Document:
    """Return a copy of the scenario whose links have constant rates, `SPEED` times as high."""
    faster = copy.deepcopy(document)
    links = [link for _, link in _links(faster)]
    links += [flow["access"] for flow in faster["flows"] if "access" in flow]
    links += [link["reverse"] for link in links if "reverse" in link]
    for link in links:
        for key in SLOWER:
            link.pop(key, None)
        if "rate" in link:
            link["rate"] = f"{SPEED * bits_per_second(link['rate'])} bps"
    return faster


def _scale(traffic: Document, factor: float) -> dict[str, float | str]:
    """Multiply the rate of connections in `traffic` by a factor; return the changed settings.

    Times between connections are divided by the factor.
    """
    if "rate" in traffic:
        # Rounded, so that it is short in a file.
        traffic["rate"] = float(f"{traffic['rate'] * factor:.6g}")
        return {"rate": traffic["rate"]}

    def sooner(text: str) -> str:
        return f"{seconds(text) / factor:.12f} s"

    interval = traffic["interval"]
    if isinstance(interval, str):
        traffic["interval"] = sooner(interval)
        return {"interval": traffic["interval"]}
    changed: dict[str, float | str] = {}
    for key in SCALES:
        if key in interval:
            interval[key] = changed[f"interval.{key}"] = sooner(interval[key])
    for index, value in enumerate(interval.get("values", [])):
        interval["values"][index] = changed[f"interval.values.{index}"] = sooner(value)
    return changed
