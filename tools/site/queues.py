"""A page for each queue discipline."""

from collections.abc import Mapping
from typing import Any

from longhaul import _engine
from tools.site import views
from tools.site.examples import Examples
from tools.site.markdown import Pages, block, code, html, table, toctree
from tools.site.runs import chart
from tools.site.values import toml


def sender(queue: str) -> str:
    """Return the algorithm that answers to what a discipline tells; Reno where none is made for it."""
    rows = _engine.algorithms()["algorithms"]
    told = (row for row in rows if {"ECN", "routers"} & set(row["listens_to"]))
    return next((row["name"] for row in told if row["queue"] == queue), "reno")


def write(pages: Pages, examples: Examples) -> None:
    """Write all pages and their index."""
    rows = _engine.queues()
    for row in rows:
        pages.write(f"queues/{row['name']}.md", _page(row, examples))
    lines = [
        "# Queue disciplines", "",
        "What `queue = { kind = \"NAME\" }` of a link may name; [Queue disciplines](../../queues.md) tells how they work and what "
        "they were checked against. `longhaul list queues` prints the same in the terminal.", "",
    ]  # fmt: skip
    lines += table(
        ["name", "in the literature", "what it does", "source"],
        (
            (
                f"[{code(row['name'])}]({row['name']}.md)",
                row["title"],
                row["description"],
                row["source"],
            )
            for row in rows
        ),
    )
    pages.write(
        "queues/index.md", [*lines, "", *toctree((row["name"] for row in rows), hidden=True)]
    )


def _page(row: Mapping[str, Any], examples: Examples) -> list[str]:
    name = row["name"]
    given = {"kind": name}
    lines = [
        f"# {row['title']}: `{name}`",
        "",
        row["description"],
        "",
        *block("toml", f"queue = {toml(given)}"),
        "",
    ]
    kind = sender(name)
    flow: dict[str, Any] = {"congestion": {"kind": kind}}
    scenario = {
        "title": f"Queue of {name}: four flows of {kind}, 50 Mbit/s, 50 ms",
        "duration": "30 s",
        "measure": {"every": "50 ms"},
        "topology": {
            "dumbbell": {"bottleneck": {"rate": "50 Mbps", "delay": "25 ms", "queue": given}}
        },
        "flows": [{"label": kind, "count": 4, "start": {"uniform": ["0 s", "2 s"]}, **flow}],
    }
    drawn = chart(scenario, views.queues, "queues")
    lines += ["## Its queue", "", *html(drawn.svg()), ""]
    lines += [
        f"Four flows of [`{kind}`](../algorithms/{kind}.md) on 50 Mbit/s and 50 ms; one BDP is 208 packets.",
        "",
    ]
    lines += ["## Parameters", ""]
    rows = (
        (
            code(parameter["name"]),
            parameter["help"],
            parameter["allowed"],
            parameter["default"] or "none",
        )
        for parameter in row["parameters"]
    )
    lines += [*table(["name", "meaning", "allowed", "default"], rows), ""]
    shown = examples.with_queue(name)
    if shown:
        lines += [
            "## Used in",
            "",
            *(f"- [{title}](../../gallery/{example}.md)" for example, title in shown),
            "",
        ]
    return [
        *lines,
        "## Source",
        "",
        f"{row['source']}. [Queue disciplines](../../queues.md) tells more.",
        "",
    ]
