"""Contenders of an evaluation: the subject, and algorithms or disciplines to compare it with."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from longhaul import _engine
from longhaul._engine import LonghaulError, ScenarioError
from longhaul.evaluation import stacks
from longhaul.files.classes import only_algorithm
from longhaul.files.names import unknown
from longhaul.files.values import value

# Scenario key for a contender, by the kind of subject.
TABLES = {"algorithm": "congestion", "discipline": "queue"}


class ContenderError(LonghaulError):
    """Error: a contender cannot be evaluated."""


@dataclass(frozen=True)
class Contender:
    """A contender: its name, and its value of the key `congestion` or `queue` in scenarios."""

    name: str
    table: dict[str, Any]


def contender(written: str, subject: str = "algorithm") -> Contender:
    """Return the contender for a text; `subject` is its kind, `algorithm` or `discipline`.

    Parameters are written as in a scenario: `{ kind = "cubic", decrease = 0.2 }`. An algorithm may
    also be one of these:

    - a class of a Python file: `mine.py` or `mine.py:Class`
    - a controller in another process that listens at `unix:PATH` or `tcp:HOST:PORT`
    - a compiled module of Linux: `tcp_mine.so`, or `{ module = "tcp_mine.so", beta = 717 }`
    - an algorithm of a QUIC stack: `quinn:bbr`
    """
    if written.startswith("{"):
        return _with_parameters(written, subject)
    if subject == "discipline":
        known = [row["name"] for row in _engine.queues()]
        return _known(written, known, "queue discipline", "one of", "queues")
    if written.startswith(("unix:", "tcp:")):
        return _external(written)
    if written.endswith(".so"):
        return _module(written)
    try:
        of_stack = stacks.table(written)
    except ScenarioError as error:
        raise ContenderError(f"{written}: {error}") from None
    if of_stack is not None:
        return Contender(written, of_stack)
    if not re.search(r"\.py(:|$)", written):
        known = [row["name"] for row in _engine.algorithms()["algorithms"]]
        expected = "a Python file, such as mine.py:MyClass, or one of"
        return _known(written, known, "congestion control", expected, "algorithms")
    file, _, name = written.partition(":")
    path = Path(file)
    name = name or only_algorithm(path)
    return Contender(name, {"python": f"{path.resolve()}:{name}"})


def _known(written: str, known: Sequence[str], what: str, expected: str, listed: str) -> Contender:
    """Return the built-in algorithm or queue discipline with the name `written`.

    If it is not in `known`, raise an error that suggests the nearest name. `what`, `expected` and
    `listed` are parts of the message.
    """
    if written not in known:
        message = unknown(what, written, known, f"longhaul list {listed}")
        raise ContenderError(f"{message}; expected {expected} these")
    return Contender(written, {"kind": written})


def _module(written: str) -> Contender:
    """Return the contender for a kernel module's object file, built by `longhaul module build`."""
    file = Path(written).resolve()
    try:
        name = _engine.describe_module(file)["name"]
    except _engine.AlgorithmError as error:
        raise ContenderError(str(error)) from None
    return Contender(name, {"module": str(file)})


def _external(address: str) -> Contender:
    """Return the contender for a controller at an address; raise an error if none listens there."""
    try:
        _engine.check_controller(address)
    except _engine.AlgorithmError as error:
        raise ContenderError(str(error)) from None
    # The time is part of the key, so that runs are not reused: the controller may have changed.
    version = datetime.now(UTC).isoformat(timespec="seconds")
    return Contender("external", {"external": address, "version": version})


def _with_parameters(written: str, subject: str) -> Contender:
    """Return the contender of the TOML table `written`; its name contains all parameters."""
    try:
        table = value(written)
    except tomllib.TOMLDecodeError as error:
        raise ContenderError(f"{written}: {error}") from None
    if isinstance(table, dict) and isinstance(table.get("module"), str):
        base = _module(table["module"])
        return _called_by(table | base.table, base.name, "module")
    if not isinstance(table, dict) or not isinstance(table.get("kind"), str):
        raise ContenderError(f'{written}: expected kind = "NAME" or module = "FILE.so"')
    if subject == "discipline" and "limit" in table:
        raise ContenderError(
            f"{written}: limit: the suite gives all disciplines the same buffer (RFC 7928, section "
            "3.2); for another one add --set topology.dumbbell.bottleneck.queue.limit=LIMIT"
        )
    return _called_by(table, contender(table["kind"], subject).name, "kind")


def _called_by(table: dict[str, Any], name: str, key: str) -> Contender:
    """Return a contender named `cubic decrease=0.2`: `name` and `table` without the entry `key`."""
    others = [f"{other}={given}" for other, given in table.items() if other != key]
    return Contender(" ".join([name, *others]), table)


def field(
    subject: Contender, against: Sequence[str], standards: Sequence[str], kind: str = "algorithm"
) -> list[Contender]:
    """Return the subject, and the contenders in `against` that differ from it.

    Equal contenders count once. `standards` are names of contenders. Raises ContenderError if none
    of these takes part, or if two different contenders have the same name.
    """
    found = [subject]
    for written in dict.fromkeys(against):
        other = contender(written, kind)
        if other in found:
            continue
        if any(other.name == each.name for each in found):
            raise ContenderError(
                f"--against: {written}: another contender has the name {other.name}; expected a "
                "name of its own"
            )
        found.append(other)
    # Standards are recognised by name; a contender with parameters is not a standard.
    if not any(each.name in standards for each in found):
        expected = f"one of {', '.join(standards)}" if len(standards) > 1 else standards[0]
        raise ContenderError(f"--against: expected {expected}, which verdicts are compared with")
    return found
