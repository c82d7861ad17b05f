"""Writer of the index of the reference and of the page on the JSON Schema."""

import json

from longhaul import _engine
from longhaul.figures import every
from longhaul.figures.words import place_of
from tools.site.markdown import Pages, block, code, page, table, toctree

PARTS = (
    ("algorithms/index", "Congestion control algorithms", "law, parameters, variants, window, response function, comparisons with other implementations"),
    ("slow-starts/index", "Slow starts", "law, parameters, window"),
    ("queues/index", "Queue disciplines", "parameters, and a plot of the queue"),
    ("keys/index", "Keys of scenario files", "type, default by profile, example and source, also of links and impairments"),
    ("traffic/index", "Kinds of traffic", "keys, and a plot of an example"),
    ("tables/index", "Tables of a run", "every column with its unit"),
    ("commands/index", "Commands", "arguments, options, examples"),
    ("figures", "Figures of runs", "meaning, unit and name of each figure, also as a response of a campaign"),
    ("plots", "Plots", "an example of each plot of `longhaul plot`"),
    ("python/index", "Python interface", "functions, classes, registries"),
    ("schema", "JSON Schema", "completion and checks in an editor"),
)  # fmt: skip


def write(pages: Pages) -> None:
    """Write the index of the reference, and the page on the JSON Schema."""
    index = page(
        "Reference",
        "The reference is generated from the program's registries, and therefore complete for this version.",
        table(
            ["page", "content"], ((f"[{title}]({name}.md)", text) for name, title, text in PARTS)
        ),
        toctree((name for name, _, _ in PARTS), depth=2, hidden=True),
    )
    pages.write("index.md", index)
    _figures(pages)
    _schema(pages)


def _figures(pages: Pages) -> None:
    text = "Summaries, comparisons and `longhaul analyze RUN merit` show these figures, and each can be a response of a campaign. For figures of labels, `all.` instead of `labels.NAME.` selects the figure of all flows together."
    rows = (
        (
            code(place_of(figure)),
            figure.title,
            figure.unit,
            figure.meaning(),
            ", ".join(map(code, figure.needs)),
        )
        for figure in every()
    )
    heads = ["name", "title", "unit", "meaning", "needed tables"]
    pages.write("figures.md", page("Figures of runs", text, table(heads, rows)))


def _schema(pages: Pages) -> None:
    text = _engine.schema()
    pages.write_text(
        "scenario.schema.json", json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    )
    lines = page(
        "JSON Schema",
        "`longhaul schema` prints the JSON Schema of scenario files, with which editors complete and check TOML. Editors with Taplo (the extension *Even Better TOML* of Visual Studio Code, Zed, Helix, Neovim) read the name of the schema's file from the first line of the scenario:",
        block("sh", "longhaul schema --out scenario.schema.json"),
        block("toml", '#:schema ./scenario.schema.json\nduration = "10 s"'),
        "The schema of this version: {download}`scenario.schema.json`. Only `longhaul check` tests combinations of values.",
    )
    pages.write("schema.md", lines)
