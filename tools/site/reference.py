"""Writer of the index of the reference and of the page on the JSON Schema."""

import json

from longhaul import _engine
from longhaul.figures import every
from longhaul.figures.words import place_of
from tools.site.markdown import Pages, block, code, page, table, toctree

PARTS = (
    ("algorithms/index", "Congestion control algorithms", "law, parameters, variants, window, response function and evidence of each"),
    ("slow-starts/index", "Slow starts", "law, parameters, window"),
    ("queues/index", "Queue disciplines", "parameters, and a picture of the queue"),
    ("keys/index", "Keys of scenario files", "type, default by profile, example, source; links and impairments among them"),
    ("traffic/index", "Kinds of traffic", "keys, and a picture of what is sent"),
    ("tables/index", "Tables of a run", "every column with its unit"),
    ("commands/index", "Commands", "arguments, options, examples"),
    ("figures", "Figures of runs", "meaning, unit and name of each as a response of a campaign"),
    ("plots", "Plots", "a picture of each that `longhaul plot` draws"),
    ("python/index", "Python interface", "functions, classes, registries"),
    ("schema", "JSON Schema", "completion and checks in an editor"),
)  # fmt: skip


def write(pages: Pages) -> None:
    """Write the pages."""
    index = page(
        "Reference",
        "Generated from the program's own registries, so that the pages list what this version has.",
        table(
            ["", "what it says"], ((f"[{title}]({name}.md)", text) for name, title, text in PARTS)
        ),
        toctree((name for name, _, _ in PARTS), depth=2, hidden=True),
    )
    pages.write("index.md", index)
    _figures(pages)
    _schema(pages)


def _figures(pages: Pages) -> None:
    text = "Summaries, comparisons and `longhaul analyze RUN merit` show them; a response of a campaign may be any of them. In figures of labels, `all.` in place of `labels.NAME.` stands for all flows together."
    rows = (
        (code(place_of(one)), one.title, one.unit, one.meaning(), ", ".join(map(code, one.needs)))
        for one in every()
    )
    heads = ["name", "title", "unit", "meaning", "needs the tables"]
    pages.write("figures.md", page("Figures of runs", text, table(heads, rows)))


def _schema(pages: Pages) -> None:
    text = _engine.schema()
    pages.write_text(
        "scenario.schema.json", json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    )
    lines = page(
        "JSON Schema",
        "`longhaul schema` prints the JSON Schema of scenario files. Editors complete and check TOML with it: those with Taplo (the "
        "extension *Even Better TOML* of Visual Studio Code, Zed, Helix, Neovim) take it from a first line of the scenario:",
        block("sh", "longhaul schema --out scenario.schema.json"),
        block("toml", '#:schema ./scenario.schema.json\nduration = "10 s"'),
        "The schema of this version: {download}`scenario.schema.json`. Only `longhaul check` checks whether values are allowed together.",
    )
    pages.write("schema.md", lines)
