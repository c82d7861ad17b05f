"""Writer of pages on the keys of scenarios: type, default by profile, example, source."""

import re
from collections.abc import Iterable, Mapping, Sequence

from longhaul import _engine
from tools.site import gallery
from tools.site.examples import Examples, used_in
from tools.site.markdown import Pages, code, html, page, section, table, toctree

Key = Mapping[str, str]

LINK = "topology.dumbbell.bottleneck."
PLACES = (
    "topology.dumbbell.bottleneck.",
    "topology.parking-lot.hops.*.",
    "topology.graph.links.*.",
)
"""Beginnings of the names of link keys in each topology; the rest of the name is the same."""


def write(pages: Pages, examples: Examples) -> None:
    """Write the pages on the keys of scenarios, and the index of these pages."""
    keys = _engine.scenario_keys()
    of_links = {row["name"].removeprefix(LINK) for row in keys if row["name"].startswith(LINK)}

    def is_of_link(name: str) -> bool:
        return any(
            name.startswith(place) and name.removeprefix(place) in of_links for place in PLACES
        )

    def chosen(*begin: str, but: tuple[str, ...] = ()) -> list[Key]:
        rows = [
            row
            for row in keys
            if row["name"].startswith(begin) and not row["name"].startswith(but or ("-",))
        ]
        return [row for row in rows if not is_of_link(row["name"])]

    top = [row for row in keys if "." not in row["name"] or row["name"].startswith("measure.")]
    links = [
        {**row, "name": row["name"].removeprefix(LINK)}
        for row in keys
        if row["name"].startswith(LINK)
    ]
    one_way = [row for row in links if not row["name"].startswith("reverse.")]
    of_flows = chosen("flows.", but=("flows.*.tcp.", "flows.*.traffic"))
    sections: dict[str, tuple[str, str, Sequence[Key]]] = {
        "scenario": ("The scenario and its measurement", _TOP, top),
        "tcp": ("TCP: `tcp`", _TCP, chosen("tcp.")),
        "links": ("Links and their impairments", _LINKS, one_way),
        "topology": ("Topologies: `topology`", _TOPOLOGY, chosen("topology.")),
        "flows": ("Flows: `flows`", _FLOWS, of_flows),
        "proxies": ("Proxies: `proxies`", _PROXIES, chosen("proxies.", but=("proxies.*.tcp.",))),
        "mesonet": ("MesoNet: `mesonet`", _MESONET, chosen("mesonet.")),
    }
    for name, (title, text, rows) in sections.items():
        lines = page(title, text)
        for row in rows:
            lines += _entry(row, examples, LINK if name == "links" else "")
        pages.write(f"keys/{name}.md", lines)
    _traffic(pages, examples)
    listed = ((f"[{title}]({name}.md)", len(rows)) for name, (title, _, rows) in sections.items())
    profiles = ((code(row["name"]), row["description"]) for row in _engine.profiles())
    index = [
        *page(
            "Keys of scenario files",
            _INDEX,
            table(["page", "keys:"], listed),
            "Kinds of [traffic](../traffic/index.md) and [queue disciplines](../queues/index.md) have separate pages.",
        ),
        *section(
            "Profiles",
            'A profile is a fixed set of defaults: `profile = "linux"`.',
            table(["profile", "stands for"], profiles),
            toctree(sections, hidden=True),
        ),
    ]
    pages.write("keys/index.md", index)


def _entry(row: Key, examples: Examples, place: str, level: int = 2) -> list[str]:
    facts = {
        "type": row["allowed"] + (f" ({row['unit']})" if row["unit"] else ""),
        "default": _default(row),
        "example": _example(row, examples, place),
        "source": row["source"],
    }
    listed = [f"- **{fact}**: {text}" for fact, text in facts.items() if text]
    return section(code(row["name"]), row["description"], listed, level=level)


def _default(row: Key) -> str:
    default = row["default"]
    if default == "required":
        return "none: the key is required"
    return default or "none: the key is optional"


def _example(row: Key, examples: Examples, place: str) -> str:
    name = row["name"]
    last = name.rpartition(".")[2]
    last = f'"{last}"' if last == "*" else last
    for candidate in _aliases(name, place):
        value_and_example = examples.of_key(candidate)
        if value_and_example and len(value_and_example[0]) < 100:
            value, example = value_and_example
            return f"`{last} = {value}` in [{example.name}](../../gallery/{example.name}.md)"
    return f"`{last} = {sample(row)}`"


def _aliases(name: str, place: str) -> Iterable[str]:
    if place:
        yield from (f"{place}{name}" for place in PLACES)
    else:
        yield re.sub(r"\[[^\]]*\]", "", name)
        if name.startswith("tcp."):
            yield f"flows.*.{name}"


def sample(row: Key) -> str:
    """Return a valid value of a key, made from its declaration."""
    allowed, default = row["allowed"], row["default"].partition(" (")[0]
    for pattern in (r"such as (\"[^\"]*\")", r"^(\"[^\"]*\")", r"or (\"[^\"]*\")"):
        if match := re.search(pattern, allowed):
            return match.group(1)
    if allowed.startswith("true or false"):
        return "false" if default == "true" else "true"
    if re.fullmatch(r"[-0-9.e]+", default):
        return default
    if match := re.match(r"a (?:whole )?number (?:from|above) ([-0-9.e]+) ", allowed):
        return match.group(1)
    if allowed.startswith("a list"):
        return '["NAME"]'
    return '"NAME"' if "text" in allowed else "{ ... }"


def _traffic(pages: Pages, examples: Examples) -> None:
    kinds = _engine.traffic()
    for kind in kinds:
        name = kind["name"]
        lines = page(
            f"Traffic: `{name}`",
            f'`[flows.traffic]` with `kind = "{name}"`; [Traffic](../../traffic.md) explains it.',
        )
        shown = examples.having("flows.*.traffic.kind", name)
        pictured = [example for example in examples.all if (example.name, example.title) in shown]
        if pictured:
            first = pictured[0]
            link = f"[{first.title}](../../gallery/{first.name}.md)"
            lines += section("A run with it", html(gallery.drawn(first).svg()), link)
        lines += section("Keys")
        for row in kind["keys"]:
            of_flows = {**row, "name": f"flows.*.traffic.{row['name']}"}
            lines += _entry(of_flows, examples, "", level=3)
        pages.write(f"traffic/{name}.md", [*lines, *used_in(shown)])
    rows = (
        (
            f"[{code(kind['name'])}]({kind['name']}.md)",
            ", ".join(key["name"] for key in kind["keys"]),
        )
        for kind in kinds
    )
    index = page(
        "Kinds of traffic",
        _TRAFFIC,
        table(["kind", "keys"], rows),
        toctree((kind["name"] for kind in kinds), hidden=True),
    )
    pages.write("traffic/index.md", index)


_INDEX = (
    "Scenario files are TOML or JSON. A misspelt, impossible or missing value is rejected before anything runs, with its line and the nearest valid name. `longhaul explain FILE` prints every value of a scenario with its origin, and `longhaul schema` writes a "
    "[JSON Schema](../schema.md) for editors. `*` stands for an entry of a list, such as one of `[[flows]]`."
)
_TOP = "Keys at the top of the file, and in `[measure]`."
_TCP = "Options of TCP for all flows; a group of `[[flows]]` and a proxy may have their own `tcp` table with the same keys."
_LINKS = "Every link has these keys: the `bottleneck` of a `dumbbell`, the `hops` of a `parking-lot`, the `links` of a `graph`. A link has two directions; `reverse = { ... }` sets, with the same keys, the values in which the return direction differs. [Link impairments](../../links.md) explains these keys, with pictures."
_TOPOLOGY = "One of `[topology.dumbbell]`, `[topology.parking-lot]` and `[topology.graph]`. Keys of links are on [another page](links.md)."
_FLOWS = (
    "A group of flows is an entry of `[[flows]]`. [TCP's options](tcp.md) may be set in `tcp` of a group; [traffic](../traffic/index.md) describes sources that open and close connections. `congestion` names an [algorithm](../algorithms/index.md), `slow_start` a "
    "[slow start](../slow-starts/index.md)."
)
_PROXIES = "Split-TCP proxies: [A satellite link behind a proxy](../../proxy.md)."
_MESONET = "Keys of `[mesonet]`: [MesoNet](../../mesonet.md)."
_TRAFFIC = (
    'A group of flows is an unlimited (greedy) source, unless it has a `transfer` of a given size, a `rate` of datagrams (`protocol = "udp"`), or '
    "`traffic`, which opens and closes connections. [Traffic](../../traffic.md) explains the kinds of traffic and their validation."
)
