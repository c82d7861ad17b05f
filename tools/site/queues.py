"""Writer of the pages on queue disciplines, one for each."""

from collections.abc import Mapping
from typing import Any

from longhaul import _engine
from tools.site import views
from tools.site.examples import Examples, toml, used_in
from tools.site.markdown import Pages, block, code, html, page, section, table, toctree
from tools.site.runs import chart
from validation.experiments import dumbbell


def sender(queue: str) -> str:
    """Return the name of the algorithm that is made for the signals of the discipline `queue`.

    If there is no such algorithm, return `reno`.
    """
    rows = _engine.algorithms()["algorithms"]
    told = (row for row in rows if {"ECN", "routers"} & set(row["listens_to"]))
    return next((row["name"] for row in told if row["queue"] == queue), "reno")


def write(pages: Pages, examples: Examples) -> None:
    """Write a page for each queue discipline, and their index."""
    rows = _engine.queues()
    for row in rows:
        pages.write(f"queues/{row['name']}.md", _page(row, examples))
    described = (
        (
            f"[{code(row['name'])}]({row['name']}.md)",
            row["title"],
            row["description"],
            row["source"],
        )
        for row in rows
    )
    index = page(
        "Queue disciplines",
        'The table has the values of `queue = { kind = "NAME" }` of a link. [Queue disciplines](../../queues.md) explains the disciplines '
        "and their validation. `longhaul list queues` prints the same table in the terminal.",
        table(["name", "in the literature", "effect", "source"], described),
        toctree((row["name"] for row in rows), hidden=True),
    )
    pages.write("queues/index.md", index)


def _page(row: Mapping[str, Any], examples: Examples) -> list[str]:
    name = row["name"]
    kind, given = sender(name), {"kind": name}
    flow = {
        "label": kind,
        "count": 4,
        "start": {"uniform": ["0 s", "2 s"]},
        "congestion": {"kind": kind},
    }
    scenario = {
        "title": f"Queue of {name}: four flows of {kind}, 50 Mbit/s, 50 ms",
        "duration": "30 s",
        "measure": {"every": "50 ms"},
        "topology": dumbbell("50 Mbps", "25 ms", given),
        "flows": [flow],
    }
    rows = (
        (
            code(parameter["name"]),
            parameter["help"],
            parameter["allowed"],
            parameter["default"] or "none",
        )
        for parameter in row["parameters"]
    )
    return [
        *page(
            f"{row['title']}: `{name}`", row["description"], block("toml", f"queue = {toml(given)}")
        ),
        *section(
            "Queue length",
            html(chart(scenario, views.queues, "queues").svg()),
            f"Four flows of [`{kind}`](../algorithms/{kind}.md) on 50 Mbit/s and 50 ms; one BDP is 208 packets.",
        ),
        *section("Parameters", table(["name", "meaning", "allowed", "default"], rows)),
        *used_in(examples.having("queue.kind", name)),
        *section(
            "Source", f"{row['source']}. [Queue disciplines](../../queues.md) has more details."
        ),
    ]
