"""Scenarios that the site shows, and the values of their keys."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.site.markdown import DOCS, ROOT, section


@dataclass(frozen=True)
class Example:
    """A scenario file that the site shows as an example."""

    name: str
    file: Path
    text: str
    scenario: dict[str, Any]

    @property
    def title(self) -> str:
        """Title of the example."""
        return str(self.scenario.get("title", self.name))

    def values(self) -> Iterator[tuple[str, Any]]:
        """Yield every key of the scenario, by its name in the registry of keys, and its value."""
        yield from _values("", self.scenario)


def _values(path: str, value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        if path:
            yield path, value
        for key, item in value.items():
            yield from _values(f"{path}.{key}" if path else key, item)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for item in value:
            yield from _values(f"{path}.*", item)
    else:
        yield path, value


def toml(value: object) -> str:
    """Return `value` as one line of TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


class Examples:
    """All scenarios of the gallery: those of the package and those of the site's pages."""

    def __init__(self) -> None:
        files = [
            *ROOT.glob("python/longhaul/scenarios/*.toml"),
            *ROOT.glob("python/longhaul/scenarios/algorithms/*.toml"),
            *DOCS.glob("scenarios/*.toml"),
        ]
        self.all = [_read(file) for file in sorted(files, key=lambda file: file.stem)]
        self._of_key: dict[str, tuple[str, Example]] = {}
        for example in self.all:
            for key, value in example.values():
                shown = toml(value)
                known = self._of_key.get(key)
                if known is None or len(shown) < len(known[0]):
                    self._of_key[key] = (shown, example)

    def of_key(self, key: str) -> tuple[str, Example] | None:
        """Return the shortest value of `key` in any example, and the example; None if unused."""
        return self._of_key.get(key)

    def having(self, end: str, value: str) -> list[tuple[str, str]]:
        """Return names and titles of the scenarios in which a key that ends in `end` is `value`."""
        return [
            (example.name, example.title)
            for example in self.all
            if any(key.endswith(end) and given == value for key, given in example.values())
        ]


def used_in(shown: Sequence[tuple[str, str]]) -> list[str]:
    """Return the lines of a section with links to examples; empty without examples.

    `shown` has their names and titles.
    """
    links = [f"- [{title}](../../gallery/{name}.md)" for name, title in shown]
    return section("Used in", links) if links else []


def _read(file: Path) -> Example:
    text = file.read_text(encoding="utf-8")
    return Example(file.stem, file, text, tomllib.loads(text))
