"""Commands that read a scenario without running it: check, explain."""

import typer
from rich.text import Text

from longhaul.cli.printing import plain_table, print_json, stdout, warn
from longhaul.cli.shared import AsJson, Overrides, Quiet, ScenarioFile
from longhaul.running.loading import load


def check(file: ScenarioFile, set: Overrides = None, quiet: Quiet = False) -> None:
    """Check a scenario without running it."""
    scenario = load(file, set or ())
    warn(scenario.warnings)
    if not quiet:
        about = [scenario.title, f"{scenario.duration_s:g} s"]
        typer.echo(f"{file}: valid ({'; '.join(filter(None, about))})")


def explain(
    file: ScenarioFile,
    set: Overrides = None,
    json: AsJson = False,
) -> None:
    """Print every value of a scenario, defaults included, with its origin."""
    rows = load(file, set or ()).explain()
    if json:
        print_json(
            [{"path": path, "value": value, "origin": origin} for path, value, origin in rows]
        )
        return
    cells = ((path, Text(value), Text(origin, style="dim")) for path, value, origin in rows)
    stdout().print(plain_table(("key", "value", "origin"), cells))
