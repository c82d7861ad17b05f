"""Writer of the gallery: a page for each scenario with a chart of a run, its command and file."""

from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, takewhile

from tools.site import views
from tools.site.chart import Chart
from tools.site.examples import Example, Examples
from tools.site.markdown import ROOT, Pages, block, grid, html, page, section, toctree
from tools.site.runs import chart

VIEW = {
    "cellular": "throughput", "changing_link": "throughput", "satellite_slots": "throughput", "codel_or_pie": "queues", "dctcp_incast": "queues", "l4s": "queues",
    "decbit": "queues", "fair_queues": "goodputs", "finite_transfers": "goodputs", "http_dumbbell": "responses",
    "mesonet_dumbbell": "active", "mesonet_scaled_down": "active", "mesonet_small": "active", "on_off": "throughput",
    "packmime": "responses", "requests": "responses", "web_sessions": "responses", "trace": "throughput",
    "perturbations": "queues", "udp_cross_traffic": "throughput", "gentle_adaptive_red": "queues", "vcp": "queues", "xcp": "queues",
    "policed_link": "goodputs", "token_bucket": "throughput", "split_proxy": "throughput", "control_theory": "queues",
}  # fmt: skip
"""Kind of chart for scenarios that do not show congestion windows."""

SHORTER = {
    "mesonet_small": ("mesonet.hosts.sources=5",),
    "mesonet_scaled_down": (
        "mesonet.MI=40",
        "mesonet.periods=[]",
        "mesonet.LLon=[0.01, 0.01, 0.01]",
    ),
}
"""Overrides by scenario that shorten large runs for the chart."""

GROUPS = {
    "Flows that share a bottleneck":
        "one_flow hstcp_beside_sack starve ten_gigabit parallel_tcp finite_transfers parking_lot own_topology",
    "Links that change, lose and delay":
        "cellular changing_link burst_loss reordering delay_box emulated_link satellite_return satellite_slots split_proxy peach",
    "Queues and routers":
        "codel_or_pie gentle_adaptive_red control_theory decbit dctcp_incast l4s fair_queues vcp xcp token_bucket policed_link packet_pair",
    "Traffic that starts and stops":
        "requests packmime web_sessions http_dumbbell on_off trace perturbations udp_cross_traffic",
}  # fmt: skip
"""Names of the scenarios under each heading of the gallery; all others come last."""


def write(pages: Pages, examples: Examples) -> None:
    """Write a page for each scenario, and the index with a small chart of each."""
    # Threads, since the engine releases the interpreter's lock.
    names = [example.name for example in examples.all]
    with ThreadPoolExecutor() as pool:
        charts = dict(zip(names, pool.map(drawn, examples.all), strict=True))
    for example in examples.all:
        pages.write(f"{example.name}.md", _page(example, charts[example.name]))
    pages.write("index.md", _index(examples, charts))


def drawn(example: Example) -> Chart:
    """Run a scenario, and return its chart."""
    view = VIEW.get(example.name, "windows")
    return chart(example.file, views.VIEWS[view], view, SHORTER.get(example.name, ()))


def _page(example: Example, picture: Chart) -> list[str]:
    smaller = " ".join(f"--set {setting}" for setting in SHORTER.get(example.name, ()))
    shipped = (
        example.file.is_relative_to(ROOT / "python") and example.file.parent.name == "scenarios"
    )
    new = f"longhaul new {example.name}.toml --from {example.name}\n" if shipped else ""
    path = example.file.relative_to(ROOT).as_posix()
    return [
        *page(
            example.title,
            str(example.scenario.get("description", "")),
            _comment(example),
            html(picture.svg()),
            f"The plot shows a smaller run: `{smaller}`." if smaller else "",
        ),
        *section(
            "Run it", block("sh", f"{new}longhaul run {example.name}.toml --out {example.name}")
        ),
        *section(
            "The scenario",
            f"{{download}}`{example.file.name} <../../{path}>`",
            block("toml", example.text),
        ),
    ]


def _comment(example: Example) -> list[str]:
    """Return the comment at the top of a scenario as lines of a page.

    Indented lines of the comment are commands, and become blocks of code.
    """
    head = [
        line[1:] for line in takewhile(lambda line: line.startswith("#"), example.text.splitlines())
    ]
    lines: list[str] = []
    for is_code, group in groupby(head, key=lambda line: line.startswith("  ")):
        text = [line.strip() for line in group]
        lines += ["", *block("sh", "\n".join(text)), ""] if is_code else text
    return [*lines, ""] if lines else []


def _index(examples: Examples, charts: dict[str, Chart]) -> list[str]:
    known = {example.name: example for example in examples.all}
    groups = {title: names.split() for title, names in GROUPS.items()}
    placed = {name for names in groups.values() for name in names}
    groups["Large networks and algorithms in Python"] = [
        name for name in known if name not in placed
    ]
    lines = page(
        "Gallery",
        "Each scenario can be run unchanged. Each plot is a link to the scenario's page, with the file and the command.",
    )
    for title, names in groups.items():
        cards = (_card(known[name], charts[name]) for name in names if name in known)
        lines += section(title, grid("1 2 3 3", cards))
    return [*lines, *toctree(sorted(known), hidden=True)]


def _card(example: Example, picture: Chart) -> list[str]:
    """Return the lines of a card: a chart with the title below, so that charts are aligned."""
    options = [f":link: {example.name}", ":link-type: doc", f":link-alt: {example.title}", ""]
    return [*options, *html(picture.thumbnail()), "", f"**{example.title}**"]
