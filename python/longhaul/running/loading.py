"""Loading of scenarios: a file, a text or mappings become a checked scenario.

This module needs only the engine and not the libraries for tables, so that commands which only
check a scenario start fast.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul._engine import Scenario, ScenarioError, TimeLimit, seconds
from longhaul.congestion import CongestionControl

# A path, the text of a scenario file (recognised by a line break), or nested mappings, in which
# `python` may be a class.
ScenarioSource = str | Path | Mapping[str, Any]

# Classes that a scenario may name: `congestion = { python = "MyCC" }`.
Algorithms = Iterable[type[CongestionControl]]


def load(
    scenario: ScenarioSource,
    set: Sequence[str] = (),
    algorithms: Algorithms = (),
    *,
    beside: str | Path = "",
    limit: TimeLimit | None = None,
) -> Scenario:
    """Check a scenario and fill in its defaults; `set` has `key=value` overrides.

    File names in a text or mappings are relative to the directory `beside`. Loading fails if an
    algorithm's file is still executing after `limit`.
    """
    name = str(Path(beside, "scenario"))
    given: dict[str, type[CongestionControl]] = {}

    def hand_over(value: object) -> str:
        """Register an algorithm class; return the name that replaces it in the scenario's text."""
        if not (isinstance(value, type) and issubclass(value, CongestionControl)):
            raise ScenarioError(f"expected a value of TOML or JSON, found {value!r}")
        if given.setdefault(value.__name__, value) is not value:
            raise ScenarioError(f"two different classes are called {value.__name__}")
        return value.__name__

    for algorithm in algorithms:
        hand_over(algorithm)
    if isinstance(scenario, Mapping):
        text = json.dumps(scenario, default=hand_over)
        return _parsed(text, name, set, given, limit)
    if isinstance(scenario, str) and "\n" in scenario:
        return _parsed(scenario, name, set, given, limit)
    try:
        return Scenario.load(str(scenario), list(set), given, limit)
    except ScenarioError:
        _refuse_campaign(Path(scenario))
        raise


def _refuse_campaign(file: Path) -> None:
    """Raise an error for a campaign's file; the message names the command that runs campaigns."""
    try:
        whole = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return
    if "scenario" in whole and not {"factors", "responses"}.isdisjoint(whole):
        raise ScenarioError(
            f"{file}: a campaign, not a scenario: `longhaul campaign run {file}` does its runs, "
            f"`longhaul campaign plan {file}` checks it"
        ) from None


def _parsed(
    text: str,
    name: str,
    set: Sequence[str],
    algorithms: Mapping[str, type[CongestionControl]],
    limit: TimeLimit | None,
) -> Scenario:
    """Parse a text as a scenario; messages call it `scenario`, without a directory."""
    try:
        return Scenario.parse(text, name, list(set), algorithms, limit)
    except ScenarioError as error:
        raise ScenarioError(str(error).replace(f"{name}:", f"{Path(name).name}:")) from None


def duration_s(text: str, what: str) -> float:
    """Return a time such as `20 s` in seconds; for an invalid time, an error begins with `what`."""
    try:
        return seconds(text)
    except ScenarioError as error:
        raise ScenarioError(f"{what}: {error}") from None
