"""The index of the reference, and the page of the JSON Schema."""

import json

from longhaul import _engine
from longhaul.figures import every
from longhaul.figures.words import place_of
from tools.site.markdown import Pages, block, code, table, toctree

PARTS = (
    (
        "algorithms/index",
        "Congestion control algorithms",
        "law, parameters, variants, window, response function, what each was held against",
    ),
    ("slow-starts/index", "Slow starts", "law, parameters, window"),
    ("queues/index", "Queue disciplines", "parameters, and a picture of the queue"),
    (
        "keys/index",
        "Keys of scenario files",
        "type, default by profile, example, source; links and impairments among them",
    ),
    ("traffic/index", "Kinds of traffic", "keys, and a picture of what is sent"),
    ("tables/index", "Tables of a run", "every column with its unit"),
    ("commands/index", "Commands", "arguments, options, examples"),
    ("figures", "Figures of runs", "meaning, unit and name of each as a response of a campaign"),
    ("plots", "Plots", "a picture of each that `longhaul plot` draws"),
    ("python/index", "Python interface", "functions, classes, registries"),
    ("schema", "JSON Schema", "completion and checks in an editor"),
)


def write(pages: Pages) -> None:
    """Write the pages."""
    lines = [
        "# Reference",
        "",
        "Made from the program's own registries: what is listed here is what this version has.",
        "",
    ]
    lines += table(
        ["", "what it says"], ((f"[{title}]({name}.md)", text) for name, title, text in PARTS)
    )
    pages.write(
        "index.md", [*lines, "", *toctree((name for name, _, _ in PARTS), depth=2, hidden=True)]
    )
    _figures(pages)
    _schema(pages)


def _figures(pages: Pages) -> None:
    lines = [
        "# Figures of runs",
        "",
        "Summaries, comparisons and `longhaul analyze RUN merit` show them; a response of a campaign may be any of them. Of those of labels, `all.` in place of `labels.NAME.` asks for the figure of all flows together.",
        "",
    ]
    rows = (
        (code(place_of(one)), one.title, one.unit, one.meaning(), ", ".join(map(code, one.needs)))
        for one in every()
    )
    lines += table(["name", "title", "unit", "meaning", "needs the tables"], rows)
    pages.write("figures.md", lines)


def _schema(pages: Pages) -> None:
    text = _engine.schema()
    pages.write_text(
        "scenario.schema.json", json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    )
    lines = [
        "# JSON Schema", "",
        "`longhaul schema` prints the JSON Schema of scenario files. Editors complete and check TOML with it: those with Taplo (the "
        "extension *Even Better TOML* of Visual Studio Code, Zed, Helix, Neovim) take it from a first line of the scenario:", "",
        *block("sh", "longhaul schema --out scenario.schema.json"), "",
        *block("toml", '#:schema ./scenario.schema.json\nduration = "10 s"'), "",
        "The schema of this version: {download}`scenario.schema.json`. What values can be together is checked by `longhaul check` alone.",
    ]  # fmt: skip
    pages.write("schema.md", lines)
