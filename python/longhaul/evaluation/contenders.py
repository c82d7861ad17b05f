"""Who is compared: the algorithm that is evaluated, and those that it is held against."""

import ast
import difflib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from longhaul import _engine
from longhaul._engine import LonghaulError
from longhaul.files.values import value

# Of these a new algorithm must not be worse (RFC 9743, section 5.2.1); others are shown beside it.
STANDARDS = ("cubic", "reno")
AGAINST = ("cubic", "reno", "bbr3")


class ContenderError(LonghaulError):
    """An algorithm that cannot be evaluated."""


@dataclass(frozen=True)
class Contender:
    """An algorithm: what it is called, and the table `congestion` of a flow that runs it."""

    name: str
    congestion: dict[str, Any]


def contender(written: str) -> Contender:
    """A built-in algorithm, or a class of a Python file: `cubic`, `mine.py` or `mine.py:Class`.

    Parameters are given as in a scenario: `{ kind = "cubic", decrease = 0.2 }`. What listens at
    `unix:PATH` or `tcp:HOST:PORT` is a controller in another process.
    """
    if written.startswith("{"):
        return _with_parameters(written)
    if written.startswith(("unix:", "tcp:")):
        return _external(written)
    if not re.search(r"\.py(:|$)", written):
        known = [row["name"] for row in _engine.algorithms()["algorithms"]]
        if written not in known:
            near = difflib.get_close_matches(written, known, n=1)
            hint = f" (did you mean `{near[0]}`?)" if near else ""
            raise ContenderError(
                f"unknown congestion control `{written}`{hint}; expected a Python file, such as "
                f"mine.py:MyClass, or one of {', '.join(known)}"
            )
        return Contender(written, {"kind": written})
    file, _, name = written.partition(":")
    path = Path(file)
    name = name or _only_algorithm(path)
    return Contender(name, {"python": f"{path.resolve()}:{name}"})


def _external(address: str) -> Contender:
    """A controller that listens there; refused if none does."""
    try:
        _engine.check_controller(address)
    except _engine.AlgorithmError as error:
        raise ContenderError(str(error)) from None
    # What answers there may change from one evaluation to the next: its runs are not used again.
    version = datetime.now(UTC).isoformat(timespec="seconds")
    return Contender("external", {"external": address, "version": version})


def _with_parameters(written: str) -> Contender:
    """An algorithm with parameters, called by all of them."""
    try:
        congestion = value(written)
    except tomllib.TOMLDecodeError as error:
        raise ContenderError(f"{written}: {error}") from None
    if not isinstance(congestion, dict) or not isinstance(congestion.get("kind"), str):
        raise ContenderError(f'{written}: expected kind = "NAME"')
    others = [f"{key}={given}" for key, given in congestion.items() if key != "kind"]
    return Contender(" ".join([contender(congestion["kind"]).name, *others]), congestion)


def _only_algorithm(file: Path) -> str:
    """The one class of a file that derives from CongestionControl."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    except SyntaxError as error:
        raise ContenderError(f"{file}:{error.lineno}: {error.msg}") from None
    names = [
        one.name
        for one in tree.body
        if isinstance(one, ast.ClassDef)
        and any("CongestionControl" in ast.unparse(base) for base in one.bases)
    ]
    if len(names) != 1:
        there = f"found {', '.join(names)}" if names else "found none"
        raise ContenderError(
            f"{file}: expected one class that derives from CongestionControl, {there}; "
            f"say which, as in {file}:{names[0] if names else 'MyClass'}"
        )
    return names[0]


def field(subject: Contender, against: Sequence[str]) -> list[Contender]:
    """The subject and those that it is held against, each once."""
    others = [one for one in map(contender, dict.fromkeys(against)) if one != subject]
    # By name: one with other parameters is no standard.
    if not any(one.name in STANDARDS for one in (subject, *others)):
        raise ContenderError(
            f"--against: expected one of {', '.join(STANDARDS)}, which verdicts are compared with"
        )
    for other in others:
        if other.name == subject.name:
            raise ContenderError(f"--against: {other.name} has the name of what is evaluated")
    return [subject, *others]
