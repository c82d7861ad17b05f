"""Writer of the pages on congestion control algorithms and slow starts, one for each."""

import json
import math
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from longhaul import _engine
from longhaul.studies.study import Study, studies
from tools.site import evidence, views
from tools.site.chart import Chart, Line
from tools.site.laws import equations
from tools.site.markdown import Pages, block, code, html, page, section, table, toctree
from tools.site.runs import chart
from validation.experiments import dumbbell
from validation.response.judge import judge

RTT_S = 0.1
LOSSES = [10 ** (-7 + step / 8) for step in range(41)]
"""Loss rates at which response functions are plotted: from 1e-7 to 1e-2."""


def scenario(kind: str) -> dict[str, Any]:
    """Return the scenario of a page's plot: a flow of `kind`, and a second one from 15 s on."""
    given: dict[str, Any] = {"kind": kind}
    if kind == "table":
        given |= {"increase": [[1, 1], [100, 1], [1000, 10]], "decrease": [[1, 0.5], [1000, 0.2]]}
    flow = {"congestion": given}
    (entry,) = (row for row in _engine.algorithms()["algorithms"] if row["name"] == kind)
    # An algorithm that is made for a queue discipline runs with this discipline, not drop-tail.
    queue = {"kind": entry["queue"] or "droptail", "limit": "1 BDP"}
    return {
        "title": f"Two flows of {kind}: 50 Mbit/s, 50 ms, a queue of one BDP",
        "duration": "40 s",
        "measure": {"every": "50 ms"},
        "topology": dumbbell("50 Mbps", "25 ms", queue),
        "flows": [{"label": "first", **flow}, {"label": "second", "start": "15 s", **flow}],
    }


def write(pages: Pages) -> None:
    """Write a page for each algorithm and slow start, and their index."""
    registry = _engine.algorithms()
    # Threads, since the engine releases the interpreter's lock.
    rows, starts = registry["algorithms"], registry["slow_starts"]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda row: chart(scenario(row["name"]), views.windows, "windows"), rows))
    for row in rows:
        pages.write(f"algorithms/{slug(row['name'])}.md", _page(row))
    for row in starts:
        pages.write(f"slow-starts/{slug(row['name'])}.md", _slow_start(row))
    pages.write("algorithms/index.md", _index("Congestion control algorithms", "algorithms", rows))
    pages.write("slow-starts/index.md", _index("Slow starts", "slow-starts", starts))


def slug(name: str) -> str:
    """Return the file name of the page on an algorithm or a slow-start variant."""
    return name.replace("++", "-plus-plus")


def _index(title: str, what: str, rows: list[dict[str, Any]]) -> list[str]:
    key = "congestion" if what == "algorithms" else "slow_start"
    described = (
        (f"[{code(row['name'])}]({slug(row['name'])}.md)", row["title"], ", ".join(row["listens_to"]), row["source"])
        for row in rows
    )  # fmt: skip
    return page(
        title,
        f'The table has the values of `{key} = {{ kind = "NAME" }}` of a group of flows. `longhaul list {what}` prints the same table in the terminal.',
        table(["name", "in the literature", "reacts to", "source"], described),
        "Your own algorithm can be a [Python class](../../python-algorithms.md) or a [table](table.md)."
        if what == "algorithms"
        else "",
        toctree((slug(row["name"]) for row in rows), hidden=True),
    )


def _head(row: Mapping[str, Any], key: str) -> list[str]:
    parameters = [parameter["name"] for parameter in row["parameters"]]
    return [
        *page(
            f"{row['title']}: `{row['name']}`",
            row["description"],
            block("toml", f'{key} = {{ kind = "{row["name"]}" }}'),
        ),
        *section(
            "Law",
            html("\n".join(equations(row["law"], parameters))),
            "`acked` is the number of segments that an ACK newly acknowledges in congestion avoidance; windows are in segments.",
        ),
    ]


def _page(row: Mapping[str, Any]) -> list[str]:
    name = row["name"]
    given = scenario(name)
    queue = given["topology"]["dumbbell"]["bottleneck"]["queue"]["kind"]
    used_by = ", ".join(study.name for study in studies() if name in _words(study))
    return [
        *_head(row, "congestion"),
        *section(
            "Window",
            html(chart(given, views.windows, "windows").svg()),
            f"Two flows of `{name}` on 50 Mbit/s and 50 ms, the second from 15 s on; the queue is `{queue}` of one "
            "bandwidth-delay product, 208 packets.",
            "The following command plots the window without a network, round trip by round trip:",
            block(
                "sh",
                f"longhaul window {name} {'cubic' if name == 'reno' else 'reno'} --loss-every 10000",
            ),
        ),
        *_parameters(row),
        *_variants(row),
        *_state(row),
        *_response(name),
        *section("Comparisons", evidence.held_against(name)),
        *section(
            "Sources",
            _sources(row),
            f"Used by {used_by}: [studies](../../studies.md)." if used_by else "",
        ),
    ]


def _state(row: Mapping[str, Any]) -> list[str]:
    rows = [(code(state["name"]), state["title"], state["unit"]) for state in row["state"]]
    if not rows:
        return []
    return section(
        "State",
        "With `trace_acks = true` a group of flows records at each acknowledgement, in addition to its window, these quantities:",
        table(["quantity", "meaning", "unit"], rows),
        "`longhaul plot RUN state` draws them.",
    )


# Keys of scenarios whose values are names, not algorithms.
NAMES = ("label", "name", "from", "to")


@cache
def _words(study: Study) -> set[str]:
    """Return all words in the scenarios, factors and conditions of a study."""
    return {
        word
        for experiment in study.experiments.values()
        for part in (
            experiment.template or {}, experiment.factors, experiment.places, experiment.conditions
        )
        for word in _texts(part)
    }  # fmt: skip


def _texts(tree: Any) -> Iterator[str]:  # noqa: ANN401
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield str(key)
            yield from _texts(value) if key not in NAMES else ()
    elif isinstance(tree, list | tuple):
        for value in tree:
            yield from _texts(value)
    else:
        yield str(tree)


def allowed(parameter: Mapping[str, Any]) -> str:
    """Return the allowed values of a parameter with their unit; for a flag only the values."""
    unit = str(parameter.get("unit", ""))
    return unit if unit == "0 or 1" else f"{parameter['allowed']} {unit}".strip()


def _parameters(row: Mapping[str, Any]) -> list[str]:
    rows = [
        (code(parameter["name"]), parameter["help"], allowed(parameter), parameter["default"], parameter["source"])
        for parameter in row["parameters"]
    ]  # fmt: skip
    if not rows:
        return section("Parameters", "None.")
    return section(
        "Parameters",
        table(["name", "meaning", "range and unit", "default", "source"], rows),
        "Defaults are the same in all profiles, except for changes by a variant, which are stated.",
    )


def _variants(row: Mapping[str, Any]) -> list[str]:
    first, *others = row["variants"]
    if not others:
        return section("Variants", f"`{first}` alone.")
    names = ", ".join(code(variant) for variant in others)
    return section(
        "Variants",
        f"`{first}` is the default; the others are {names}. Profile `linux` uses the variant `linux-6.18`, and profiles of ns-2 use `ns2`, if the algorithm has such a variant. The description above states the changes of each variant.",
        block("toml", f'congestion = {{ kind = "{row["name"]}", variant = "{others[-1]}" }}'),
    )


def _response(name: str) -> list[str]:
    measured = evidence.response_measurements().get(name, [])
    loaded = _engine.Scenario.parse(json.dumps(scenario(name)), name)
    values = [loaded.rounds(1, rtt_s=RTT_S, loss=(p, 1))[1] for p in LOSSES]
    if all(value is None for value in values) and not measured:
        return section(
            "Response function",
            "This algorithm has no response function, since its window does not depend on the loss rate alone.",
        )
    curves = [Line("response function", list(map(math.log10, LOSSES)), values)]
    parts: list[str | list[str]] = [f"Mean window at a round-trip time of {RTT_S * 1e3:g} ms."]
    if measured:
        losses = [math.log10(point.p) for point in measured]
        curves.append(Line("measured", losses, [point.random.network for point in measured]))
        rows = (
            (f"{point.p:g}", f"{point.random.law:.1f}", f"{point.random.network:.1f}", judge(point, point.random).value)
            for point in measured
        )  # fmt: skip
        parts += [
            table(["loss rate", "law:", "packet simulation:", "label"], rows),
            "The table is for random losses, as described on [Measured mean cwnd against the response function](../../response-functions.md).",
        ]
    axes = ("loss rate (log10)", "mean cwnd (segments)", f"Response function of {name}")
    return section("Response function", html(Chart(tuple(curves), *axes, log=True).svg()), *parts)


def _sources(row: Mapping[str, Any]) -> list[str]:
    sources = [row["source"], *(parameter["source"] for parameter in row["parameters"])]
    return [f"- {source}" for source in dict.fromkeys(sources)]


def _slow_start(row: Mapping[str, Any]) -> list[str]:
    name = row["name"]
    given = scenario("reno")
    bottleneck = given["topology"]["dumbbell"]["bottleneck"]
    given["title"] = f"Slow start {name}: 200 Mbit/s, 100 ms, a queue of one BDP"
    given["duration"], given["measure"] = "8 s", {"every": "20 ms"}
    bottleneck["rate"], bottleneck["delay"] = "200 Mbps", "50 ms"
    given["flows"] = [
        {"label": name, "slow_start": {"kind": name}, "congestion": {"kind": "cubic"}}
    ]
    return [
        *_head(row, "slow_start"),
        *section(
            "Window",
            html(chart(given, views.windows, "windows").svg()),
            "One flow of CUBIC on 200 Mbit/s and 100 ms, with a drop-tail queue of one bandwidth-delay product, 1,667 packets.",
        ),
        *_parameters(row),
        *section("Sources", _sources(row)),
    ]
