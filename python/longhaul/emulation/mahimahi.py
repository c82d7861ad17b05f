"""Translation of mahimahi's command lines to scenarios.

Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015, and the manual
pages of its programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from longhaul._engine import EmulationError

TOOLS = ("mm-link", "mm-delay", "mm-loss")

SERVER, CLIENT = "server", "client"
"""Names of the hosts at the ends of the path; the user's program runs at the client."""

QUEUES = {"infinite": "droptail", "droptail": "droptail", "codel": "codel", "pie": "pie"}
"""Queue disciplines by mahimahi's names; `drophead` has no counterpart."""

FOREVER = "1000000 packets"
"""Queue limit that stands for mahimahi's unlimited queues."""


@dataclass
class Direction:
    """One direction of the path: its rate or delivery trace, queue and loss.

    Without `mm-link`, the rate is 1 Gbit/s.
    """

    rate: str = 'rate = "1 Gbps"'
    queue: str = f'{{ kind = "droptail", limit = "{FOREVER}" }}'
    loss: float = 0.0

    def keys(self) -> list[str]:
        """Return the keys and values of this direction as lines of TOML."""
        loss = [f"loss = {{ bernoulli = {_exact(self.loss)} }}"] if self.loss else []
        return [self.rate, f"queue = {self.queue}", *loss]


@dataclass
class Shells:
    """The network path that nested programs of mahimahi define, and the program to run in it."""

    down: Direction = field(default_factory=Direction)
    up: Direction = field(default_factory=Direction)
    delay_ms: float = 0.0
    command: list[str] = field(default_factory=list)

    def scenario(self) -> str:
        """Return the scenario as TOML: a network of two nodes, and a download with CUBIC."""
        lines = [
            "# The path of a command line of mahimahi.",
            'title    = "A path of mahimahi"',
            'duration = "1 h"',
            "",
            "[topology.graph]",
            f'nodes = ["{SERVER}", "{CLIENT}"]',
            "",
            "[[topology.graph.links]]",
            f'from = "{SERVER}"',
            f'to = "{CLIENT}"',
            'name = "downlink"',
            f'delay = "{_exact(self.delay_ms)} ms"',
            *self.down.keys(),
            "",
            "[topology.graph.links.reverse]",
            *self.up.keys(),
            "",
            "[[flows]]",
            'label = "download"',
            f'from = "{SERVER}"',
            f'to = "{CLIENT}"',
            'congestion = { kind = "cubic" }',
        ]
        return "\n".join(lines) + "\n"


def translate(words: Sequence[str]) -> Shells:
    """Translate a command line such as `mm-delay 20 mm-link up down --`.

    Raises EmulationError for options that Longhaul cannot emulate, for several `mm-link`, and for
    malformed command lines. Delays of several tools add up, and losses are combined.
    """
    shells, rest = Shells(), list(words)
    if not rest or rest[0] not in TOOLS:
        raise EmulationError(
            f"expected a command line of mahimahi that begins with {', '.join(TOOLS[:-1])} or "
            f"{TOOLS[-1]}, found {' '.join(rest) or 'nothing'}"
        )
    while rest and rest[0] in TOOLS:
        tool = rest.pop(0)
        {"mm-delay": _delay, "mm-loss": _loss, "mm-link": _link}[tool](shells, rest)
        if rest[:1] == ["--"]:
            rest.pop(0)
    shells.command = rest
    return shells


def _delay(shells: Shells, rest: list[str]) -> None:
    """Parse the arguments of `mm-delay`, in ms, and add the delay to both directions."""
    shells.delay_ms += _number(_next(rest, "mm-delay", "MILLISECONDS"), "mm-delay")


def _loss(shells: Shells, rest: list[str]) -> None:
    """Parse the arguments of `mm-loss`: the direction and the probability of a loss."""
    direction = _direction(shells, _next(rest, "mm-loss", "uplink or downlink"))
    loss = _number(_next(rest, "mm-loss", "RATE"), "mm-loss")
    if not 0 <= loss <= 1:
        raise EmulationError(f"mm-loss: expected a probability from 0 to 1, found {loss:g}")
    direction.loss += loss - direction.loss * loss


def _link(shells: Shells, rest: list[str]) -> None:
    """Parse the arguments of `mm-link`: its options and the two delivery traces."""
    if shells.down.rate != Direction.rate:
        raise EmulationError("mm-link: links in series have no counterpart; expected one mm-link")
    queues: dict[str, dict[str, str]] = {"uplink": {}, "downlink": {}}
    traces: list[str] = []
    while rest and (len(traces) < 2 or rest[0].startswith("--")) and rest[0] != "--":
        word = rest.pop(0)
        if not word.startswith("--"):
            traces.append(word)
            continue
        name, given, value = word[2:].partition("=")
        if name.startswith("meter-") or name.endswith("-log"):
            # Options for plots and logs are ignored; the run directory has these data.
            if name.endswith("-log") and not given:
                _next(rest, "mm-link", f"a file behind --{name}")
            continue
        side, _, key = name.partition("-")
        if side not in queues or key not in ("queue", "queue-args"):
            raise EmulationError(f"mm-link: --{name} has no counterpart")
        queues[side][key] = value if given else _next(rest, "mm-link", f"a value of --{name}")
    if len(traces) < 2:
        raise EmulationError(f"mm-link: expected UPLINK-TRACE and DOWNLINK-TRACE, found {traces}")
    for side, trace in zip(("uplink", "downlink"), traces, strict=True):
        direction = _direction(shells, side)
        direction.rate = f'delivery_trace = {{ file = "{trace}" }}'
        direction.queue = _queue(side, **{k.replace("-", "_"): v for k, v in queues[side].items()})


def _queue(side: str, queue: str = "infinite", queue_args: str = "") -> str:
    """Return the queue discipline of a direction (`side`: `uplink`, `downlink`) as a TOML table.

    `queue` and `queue_args` are the values of `mm-link`'s options for this direction.
    """
    if queue not in QUEUES:
        known = ", ".join(QUEUES)
        raise EmulationError(f"mm-link: --{side}-queue={queue} has no counterpart; use {known}")
    arguments = dict(one.strip().partition("=")[::2] for one in queue_args.split(",") if one)
    if {"packets", "bytes"} <= set(arguments):
        raise EmulationError(
            "mm-link: two limits have no counterpart; expected packets or bytes in "
            f"--{side}-queue-args, found {queue_args}"
        )
    limit, rest = FOREVER, []
    for name, value in arguments.items():
        amount = _exact(_number(value, f"--{side}-queue-args={name}"))
        match name:
            case "packets":
                limit = f"{amount} packets"
            case "bytes":
                limit = f"{amount} B"
            case "target" | "interval" if queue == "codel":
                rest.append(f'{name} = "{amount} ms"')
            case "qdelay_ref" if queue == "pie":
                rest.append(f'target = "{amount} ms"')
            case _:
                raise EmulationError(f"mm-link: {name} of --{side}-queue-args has no counterpart")
    return "{ " + ", ".join([f'kind = "{QUEUES[queue]}"', f'limit = "{limit}"', *rest]) + " }"


def _direction(shells: Shells, side: str) -> Direction:
    if side not in ("uplink", "downlink"):
        raise EmulationError(f"expected uplink or downlink, found {side}")
    return shells.up if side == "uplink" else shells.down


def _next(rest: list[str], tool: str, wanted: str) -> str:
    if not rest:
        raise EmulationError(f"{tool}: expected {wanted}, found the end of the command line")
    return rest.pop(0)


def _number(text: str, of: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise EmulationError(f"{of}: expected a number, found {text}") from None


def _exact(number: float) -> str:
    """Return a number with all digits that it was written with, up to 15."""
    return f"{number:.15g}"
