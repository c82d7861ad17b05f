"""Lists for `longhaul list`: algorithms, queues, keys, columns, plots and others."""

from collections.abc import Callable
from functools import partial
from typing import Any

from rich.table import Table
from rich.text import Text

from longhaul import _engine
from longhaul.guide import examples as bundled

Row = dict[str, Any]

# Tables of scenarios of a single kind of simulation. They repeat `longhaul.results.kinds`, which
# would load the libraries for tables.
OWN_TABLES = ("mesonet",)


def algorithms() -> list[Row]:
    """Return a row for each congestion control algorithm, with its parameters."""
    return list(_engine.algorithms()["algorithms"])


def slow_starts() -> list[Row]:
    """Return a row for each slow start, with its parameters."""
    return list(_engine.algorithms()["slow_starts"])


def state() -> list[Row]:
    """Return a row for each state variable that traced flows record, with its algorithms."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for row in algorithms():
        for declared in row["state"]:
            quantity = (declared["name"], declared["unit"], declared["title"])
            rows.setdefault(quantity, []).append(row["name"])
    return [
        {
            "name": name,
            "description": f"{title}{f' ({unit})' if unit else ''}: {', '.join(kinds)}",
            "unit": unit,
            "algorithms": kinds,
        }
        for (name, unit, title), kinds in sorted(rows.items())
    ]


def queues() -> list[Row]:
    """Return a row for each queue discipline, with its keys."""
    return list(_engine.queues())


def keys() -> list[Row]:
    """Return a row for each scenario key, except those of queues, algorithms and MesoNet."""
    tables = tuple(f"{name}." for name in OWN_TABLES)
    return [row for row in _engine.scenario_keys() if not row["name"].startswith(tables)]


def keys_of(kind: str) -> list[Row]:
    """Return the keys of the scenario table that is specific to the kind of simulation `kind`."""
    table = f"{kind}."
    rows = [row for row in _engine.scenario_keys() if row["name"].startswith(table)]
    return [{**row, "name": row["name"].removeprefix(table)} for row in rows]


def traffic() -> list[Row]:
    """Return a row for each kind of traffic, with its keys."""
    rows = []
    for kind in _engine.traffic():
        keys = ", ".join(key["name"] for key in kind["keys"])
        rows.append({"name": kind["name"], "description": f"keys: {keys}", "keys": kind["keys"]})
    return rows


def profiles() -> list[Row]:
    """Return a row for each profile, a bundle of scenario defaults."""
    return list(_engine.profiles())


def columns() -> list[Row]:
    """Return a row for each column of a run's tables, except those of MesoNet runs."""
    return [
        {**row, "name": f"{row['table']}.{row['name']}", "column": row["name"]}
        for row in _engine.columns()
    ]


def plot_names() -> list[Row]:
    """Return a row for each plot of runs."""
    from longhaul import plots  # takes longer to load than all other lists

    return [{"name": plot.name, "description": plot.help} for plot in plots.PLOTS.values()]


def figures() -> list[Row]:
    """Return a row for each metric that campaigns can record of runs of kind `connections`."""
    from longhaul.figures import every
    from longhaul.figures.words import place_of

    return [
        {
            "name": place_of(figure),
            "description": figure.meaning() or figure.title,
            "unit": figure.unit,
            "needs": list(figure.needs),
        }
        for figure in every()
    ]


def responses() -> list[Row]:
    """Return a row for each numbered response of MesoNet runs (NIST SP 500-282), by chapter."""
    from longhaul.mesonet.numbered_responses import GROUP_RESPONSES, OF_PERIODS, OF_RUNS

    numbered = (
        ("chapter 4", OF_PERIODS[4]),
        ("chapters 6, 7", (*OF_PERIODS[6], *OF_RUNS[6])),
        ("chapters 8, 9", (*OF_PERIODS[8], *OF_RUNS[8])),
    )
    of_network = [
        {
            "name": f"{response.name} ({chapter})",
            "description": f"{response.title}, {response.unit}"
            if response.unit
            else response.title,
        }
        for chapter, chosen in numbered
        for response in chosen
    ]
    of_groups = [
        {
            "name": f"{number} (chapters 8, 9)",
            "description": f"of a flow group: response {name}_NUMBER, such as {name}_7",
        }
        for number, name in GROUP_RESPONSES.items()
    ]
    return of_network + of_groups


def examples() -> list[Row]:
    """Return a row for each example scenario that `longhaul new --from` can write."""
    return [{"name": name, "description": title} for name, title in bundled.titles().items()]


LISTS: dict[str, Callable[[], list[Row]]] = {
    "algorithms": algorithms,
    "slow-starts": slow_starts,
    "state": state,
    "queues": queues,
    "keys": keys,
    "traffic": traffic,
    "profiles": profiles,
    **{kind: partial(keys_of, kind) for kind in OWN_TABLES},
    "columns": columns,
    "plots": plot_names,
    "figures": figures,
    "responses": responses,
    "examples": examples,
}


def table(rows: list[Row]) -> Table:
    """Return a table for the terminal: name, description and parameters of each listed item."""
    shown = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        description = Text(row["description"])
        if "allowed" in row:
            description.append(f" {key_facts(row)}", style="dim")
        if "title" in row:
            description = Text(f"{row['title']}. ", style="bold") + Text(row["description"], "")
            if "listens_to" in row:
                signals = ", ".join(row["listens_to"])
                description.append(f"\nlistens to {signals}", style="cyan")
            for rule in row.get("law", ()):
                description.append(f"\n{rule}", style="green")
            description.append(f"\n{row['source']}", style="dim")
        shown.add_row(Text(row["name"], style="bold"), description)
        for parameter in row.get("parameters", ()):
            facts = f"{parameter['help']} {parameter['allowed']} {parameter.get('unit', '')}"
            default = f"default {parameter['default']}"
            shown.add_row(f"  {parameter['name']}", f"{facts.rstrip()}; {default}")
        for key in row.get("keys", ()):
            shown.add_row(f"  {key['name']}", f"{key['description']} {key_facts(key)}")
    return shown


def key_facts(key: Row) -> str:
    """Return the allowed values of a key with their unit, its default, and the key's source."""
    parts = [key["allowed"] + (f" ({key['unit']})" if key["unit"] else "")]
    if key["default"] == "required":
        parts.append("required")
    elif key["default"]:
        parts.append(f"default: {key['default']}")
    if key["source"]:
        parts.append(f"source: {key['source']}")
    return "; ".join(parts)
