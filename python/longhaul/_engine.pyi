"""The compiled engine: scenarios in, run directories out."""

from collections.abc import Callable, Sequence
from typing import Any, final

class LonghaulError(Exception):
    """Anything that Longhaul refuses or fails to do."""

class ScenarioError(LonghaulError):
    """A scenario that cannot be run; the message names file, key and remedy."""

class OutputError(LonghaulError):
    """A place that cannot be written to, or that already holds something."""

class RunError(LonghaulError):
    """A run that failed under way."""

@final
class Scenario:
    """A scenario, checked and resolved."""

    @staticmethod
    def load(path: str, overrides: Sequence[str] = ()) -> Scenario:
        """Read a scenario file, with `key=value` overrides."""

    @staticmethod
    def parse(text: str, name: str, overrides: Sequence[str] = ()) -> Scenario:
        """Read scenario text, TOML or JSON; `name` stands for the file in messages."""

    @property
    def title(self) -> str: ...
    @property
    def hash(self) -> str:
        """Identifies the resolved scenario."""

    @property
    def duration_s(self) -> float: ...
    @property
    def warnings(self) -> list[str]: ...
    def resolved_json(self) -> str:
        """The scenario with every default filled in, as JSON."""

    def explain(self) -> list[tuple[str, str, str]]:
        """Path, value and origin of every value."""

    def run(
        self,
        out: str,
        *,
        progress: Callable[[float, int], object] | None = None,
        overwrite: bool = False,
    ) -> None:
        """Simulate, and leave a run directory at `out`.

        `progress` gets the simulated seconds and the data packets so far, about ten times a
        second. It may raise: the run then stops and leaves nothing behind, as it does on Ctrl-C.
        """

def algorithms() -> dict[str, Any]:
    """Every congestion control algorithm and slow start, with parameters and sources."""

def schema() -> str:
    """The JSON Schema of scenario files."""

def version() -> str: ...
def results_version() -> int:
    """Changes when the same scenario gives other numbers."""

def build_profile() -> str:
    """`release` or `debug`."""
