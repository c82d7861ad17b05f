"""The package's example scenarios, one of which is the template of `longhaul new`."""

import tomllib
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable

from longhaul._engine import LonghaulError, Scenario
from longhaul.files.names import unknown

TEMPLATE = "template"


def _sources() -> dict[str, Traversable]:
    """Return the file of every example scenario, by the example's name."""
    package = files("longhaul")
    sources = {TEMPLATE: package / "templates" / "template.toml"}
    for entry in sorted((package / "scenarios").iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            sources[entry.name.removesuffix(".toml")] = entry
    return sources


def _find(name: str) -> Traversable:
    sources = _sources()
    if name not in sources:
        raise LonghaulError(unknown("example", name, sources, "longhaul list examples"))
    return sources[name]


def titles() -> dict[str, str]:
    """Return the title of every example."""
    return {name: tomllib.loads(read(name)).get("title", "") for name in _sources()}


def read(name: str) -> str:
    """Return the text of an example."""
    return _find(name).read_text(encoding="utf-8")


def companions(name: str) -> dict[str, str]:
    """Return by name the texts of the files that an example names, such as delivery traces."""
    text = read(name)
    return {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in (files("longhaul") / "scenarios").iterdir()
        if entry.is_file() and f'"{entry.name}"' in text
    }


def load(name: str, overrides: tuple[str, ...] = ()) -> Scenario:
    """Return an example as a checked scenario; `overrides` have the form `key=value`."""
    with as_file(_find(name)) as path:
        return Scenario.load(str(path), list(overrides))
