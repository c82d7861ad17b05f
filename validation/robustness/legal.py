"""Random legal scenarios, drawn by seed from the JSON Schema of scenario files.

A scenario starts with only a network and one to four groups of flows. Then random keys of the
schema are added with valid values, and kept if the scenario is still legal. Therefore every queue,
impairment, algorithm and option with a key is included automatically.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from longhaul import _engine
from validation.robustness import transport
from validation.robustness.draws import Draw, time_text
from validation.robustness.invariants import violations as violations

Schema = dict[str, Any]
# Path of a table, and the properties that it may have.
Place = tuple[tuple[str | int, ...], dict[str, Schema]]

MAX_PACKETS = 40_000
ATTEMPTS = 40
# Keys that are not added: sizes of runs, names, and other kinds of simulation.
FIXED = {
    "title", "description", "extends", "label", "name", "from", "to", "path", "nodes", "links",
    "mesonet", "topology", "flows", "duration", "measure", "python", "file", "seed", "proxies",
    "replication", "via",
}  # fmt: skip
UNITS = re.compile(r"\*\(([^)]*)\)\$$")


@cache
def schema() -> Schema:
    """Return the schema of scenario files."""
    rules: Schema = json.loads(_engine.schema())
    return rules


def scenario(seed: int) -> str:
    """Return a legal scenario as JSON."""
    draw = _scale(random.Random(seed))
    if made := transport.scenario(seed, draw):
        return json.dumps(made, indent=1)
    made = _base(draw, seed)
    # The most important keys are set first: an algorithm for each group, and a queue.
    first = [(place, "congestion") for place in _places(made) if place[0][:1] == ("flows",)]
    first += [(place, "queue") for place in _places(made) if "shaper" in place[1]]
    rest = [(None, "")] * draw.random.randint(3, ATTEMPTS)
    for place, name in [*first, *rest]:
        changed = json.loads(json.dumps(made))
        added = _add(changed, place or draw.random.choice(_places(made)), name, draw)
        if added and _is_legal(changed):
            made = changed
    return json.dumps(made, indent=1)


def _is_legal(made: dict[str, Any]) -> bool:
    try:
        _engine.Scenario.parse(json.dumps(made), "random.json", [])
    except _engine.LonghaulError:
        return False
    return True


def _scale(source: random.Random) -> Draw:
    draw = Draw(source, 0.0, 0.0, 0.0)
    draw.rate_bps = draw.log(1e3, 4e11)
    draw.delay_s = draw.log(1e-6, 5.0)
    packets = draw.log(300, MAX_PACKETS)
    # Several round trips, as far as the number of packets allows.
    longest = MAX_PACKETS * 12_000 / draw.rate_bps
    wanted = max(packets * 12_000 / draw.rate_bps, 20 * draw.delay_s)
    draw.duration_s = min(wanted, longest, 90_000.0)
    return draw


def _base(draw: Draw, seed: int) -> dict[str, Any]:
    link = {
        "rate": f"{draw.rate_bps:.0f} bps",
        "delay": time_text(draw.delay_s),
        "queue": _queue(draw),
    }
    kind = draw.random.choice(("dumbbell", "dumbbell", "parking-lot", "graph"))
    hops = draw.random.randint(1, 3)
    networks: dict[str, dict[str, Any]] = {
        "dumbbell": {"bottleneck": link},
        "parking-lot": {"hops": [link] * hops},
        "graph": {
            "nodes": [f"n{node}" for node in range(hops + 1)],
            "links": [{**link, "from": f"n{hop}", "to": f"n{hop + 1}"} for hop in range(hops)],
        },
    }
    ends = {"from": "n0", "to": f"n{hops}"} if kind == "graph" else {}
    flows = [
        {
            "label": f"f{group}",
            "count": draw.random.randint(1, 3),
            "trace_acks": draw.random.random() < 0.3,
            **ends,
        }
        for group in range(draw.random.randint(1, 4))
    ]
    return {
        "seed": seed + 1,
        "duration": time_text(draw.duration_s),
        "measure": {
            "from": time_text(draw.random.choice((0.0, 0.3, 0.9)) * draw.duration_s),
            "every": time_text(draw.duration_s / draw.random.randint(5, 200)),
        },
        "topology": {kind: networks[kind]},
        "flows": flows,
    }


def _queue(draw: Draw) -> dict[str, Any]:
    """Return a drop-tail queue; its limit is in packets, and so allowed on every path."""
    return {"kind": "droptail", "limit": f"{draw.log(1, 3000):.0f} packets"}


def _add(made: dict[str, Any], place: Place, name: str, draw: Draw) -> bool:
    """Set the key `name` in a table of the scenario `made`, or a random key if `name` is empty.

    `place` has the path of the table, and its properties in the schema. Return true if the key was
    set, and false if no value can be drawn for the key.
    """
    path, properties = place
    table: Any = made
    for step in path:
        table = table[step] if isinstance(step, int) else table.setdefault(step, {})
    name = name or draw.random.choice([name for name in properties if name not in FIXED])
    value = _value(properties.get(name, {}), draw, name)
    if value is None:
        return False
    table[name] = value
    return True


def _places(made: dict[str, Any]) -> list[Place]:
    """Return the tables of the scenario `made` to which keys can be added.

    A table is given by its path in the scenario and by its properties in the schema. Some tables
    are listed several times, so that a random choice takes them more often.
    """
    root = schema()["properties"]
    (kind,) = made["topology"]
    network = root["topology"]["properties"][kind]["properties"]
    flow = root["flows"]["items"]["properties"]
    places: list[Place] = [((), root)]
    if kind == "dumbbell":
        places.append((("topology", kind), network))
        link = network["bottleneck"]["properties"]
        places += [(("topology", kind, "bottleneck"), link)] * 4
    else:
        several = "hops" if kind == "parking-lot" else "links"
        link = network[several]["items"]["properties"]
        for hop in range(len(made["topology"][kind][several])):
            places += [(("topology", kind, several, hop), link)] * 2
    for group in range(len(made["flows"])):
        places += [(("flows", group), flow)] * 3
        places += [(("flows", group, "tcp"), flow["tcp"]["properties"])]
    return places


def _value(shape: Schema, draw: Draw, name: str = "") -> Any:  # noqa: ANN401
    """Draw a value for the schema `shape`; None if the schema does not determine one.

    `name` is the name of the key.
    """
    if "const" in shape:
        return shape["const"]
    if "enum" in shape:
        return draw.random.choice(shape["enum"])
    if "anyOf" in shape:
        return _value(draw.random.choice(shape["anyOf"]), draw, name)
    match shape.get("type"):
        case "boolean":
            return draw.random.random() < 0.5
        case "integer":
            return round(_number(shape, draw, 60))
        case "number":
            return _number(shape, draw, 1e4)
        case "string":
            return _text(shape, draw, name)
        case "array":
            inner = shape.get("items", {})
            items = [_value(inner, draw) for _ in range(draw.random.randint(1, 4))]
            return None if None in items else _in_order(items)
        case "object":
            return _table(shape, draw)
    return None


def _table(shape: Schema, draw: Draw) -> dict[str, Any] | None:
    table = {}
    required = shape.get("required", [])
    for name, inner in shape.get("properties", {}).items():
        if name in required or (name not in FIXED and draw.random.random() < 0.25):
            value = _value(inner, draw, name)
            if value is None and name in required:
                return None
            if value is not None:
                table[name] = value
    return table


def _number(shape: Schema, draw: Draw, most: float) -> float:
    """Draw a number within the bounds of the schema `shape`, with small numbers more likely.

    Numbers are also at most `most`, or one above the schema's minimum if that is larger.
    """
    low: float = shape.get("minimum", shape.get("exclusiveMinimum")) or 0.0
    highest: float = shape.get("maximum", shape.get("exclusiveMaximum")) or most
    high = min(highest, max(most, low + 1))
    if "minimum" in shape and draw.random.random() < 0.1:
        return low
    if low >= 0 and high > 10:
        return draw.log(max(low, 0.1), high)
    return draw.random.uniform(low, high)


def _text(shape: Schema, draw: Draw, name: str) -> str | None:
    match name:
        case "times_ms":
            return _opportunities(draw)
        case "changes":
            return _changes(draw)
    units = UNITS.search(shape.get("pattern", ""))
    if units is None:
        return None
    unit = draw.random.choice(units.group(1).split("|"))
    match unit:
        case "BDP":
            return f"{draw.log(0.1, 10):.4g} BDP"
        case "packets" | "packet" | "pkts" | "pkt" | "segments" | "segment":
            return f"{draw.log(1, 3000):.0f} packets"
    if unit.endswith(("bps", "bit/s")):
        return f"{draw.rate_bps * draw.log(0.01, 10):.0f} bps"
    if unit.endswith("B"):
        return f"{draw.log(40, 60_000):.0f} B"
    return time_text(draw.log(min(draw.delay_s, 1e-3) / 10, draw.duration_s))


def _in_order(items: Sequence[Any]) -> Sequence[Any]:
    """Return `items`, sorted by time if they are the rows of a schedule."""
    if all(isinstance(item, dict) and "at" in item for item in items):
        return sorted(items, key=lambda item: int(item["at"].split()[0]))
    return items


def _opportunities(draw: Draw) -> str:
    """Return the lines of a random delivery trace, with about the link's rate on average."""
    gap_ms = max(12_032_000 / draw.rate_bps, 0.01)
    at_ms, times = 0.0, []
    for _ in range(draw.random.randint(1, 300)):
        at_ms += gap_ms * draw.random.expovariate(1.0)
        times.append(int(at_ms))
    return "".join(f"{time}\n" for time in [*times, times[-1] + 1])


def _changes(draw: Draw) -> str:
    """Return the text of a random table of times and link rates."""
    at_ps, lines = 0, ["at, rate"]
    for _ in range(draw.random.randint(1, 50)):
        at_ps += 1 + round(draw.duration_s * 1e12 * draw.random.expovariate(10.0))
        rate = draw.random.choice((0, draw.rate_bps * draw.log(0.01, 10)))
        lines.append(f"{at_ps} ps, {rate:.0f} bps")
    return "\n".join(lines) + "\n"
