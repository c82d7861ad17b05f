"""The generated pages have all entries of the registries, and links that lead to pages."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_documents import DOCS, GENERATED, LINK, anchors_of, written

from longhaul import _engine
from longhaul.plots import styles
from tools.site import (
    algorithms,
    columns,
    commands,
    gallery,
    home,
    keys,
    laws,
    notebooks,
    plots,
    python_api,
    queues,
    reference,
    studies,
)
from tools.site.chart import Chart, Line, colours
from tools.site.examples import Examples
from tools.site.markdown import ROOT, Pages

LINK_KEY = re.compile(
    r"^topology\.(dumbbell\.bottleneck|parking-lot\.hops\.\*|graph\.links\.\*)\.(reverse\.)?"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Generate the pages with empty plots, and provide their directory."""
    root = tmp_path_factory.mktemp("docs")
    nothing = Chart((Line("nothing", [0.0, 1.0], [1.0, 2.0]),), "x", "y", "nothing")
    with pytest.MonkeyPatch.context() as patch:
        for module in (algorithms, queues, gallery):
            patch.setattr(module, "chart", lambda *_arguments: nothing)
        cells = {one: [*notebooks.cells(one.read_text("utf-8"))] for one in notebooks.NOTEBOOKS}
        patch.setattr(notebooks, "shown", lambda file: [[] for _ in cells[file]])
        pages, of_gallery, of_results, of_notebooks = (Pages(name, root) for name in GENERATED)
        examples = Examples()
        patch.setattr(plots.Samples, "drawn", lambda *_arguments: "<svg></svg>")
        for module in (algorithms, columns, commands, python_api, plots, reference):
            module.write(pages)
        for module in (queues, keys):
            module.write(pages, examples)
        gallery.write(of_gallery, examples)
        studies.write(of_results)
        notebooks.write(of_notebooks)
        yield root


def test_everything_in_the_registries_has_a_page(site: Path) -> None:
    registry = _engine.algorithms()
    for what, rows in (
        ("algorithms", registry["algorithms"]),
        ("queues", _engine.queues()),
        ("traffic", _engine.traffic()),
    ):
        assert {algorithms.slug(row["name"]) for row in rows} | {"index"} == {
            page.stem for page in (site / "reference" / what).glob("*.md")
        }
    for row in registry["algorithms"]:
        text = (site / f"reference/algorithms/{algorithms.slug(row['name'])}.md").read_text("utf-8")
        assert text.count('<tr><th scope="row">') == len(row["law"])
        assert all(f"`{one['name']}`" in text for one in row["parameters"])


def test_no_sentence_of_a_reference_page_lacks_its_beginning(site: Path) -> None:
    """Check that no line of a reference page begins with punctuation, as if words were lost."""
    assert set(columns.TABLES) == {row["table"] for row in _engine.columns()}
    for page in (site / "reference").rglob("*.md"):
        text = page.read_text("utf-8")
        assert not re.search(r"^[.,;] ", text, re.MULTILINE), page
        assert "to 1 0 or 1" not in text, page


def test_every_key_and_column_is_described(site: Path) -> None:
    shown = "".join(page.read_text("utf-8") for page in (site / "reference").rglob("*.md"))
    for row in _engine.scenario_keys():
        # All kinds of links have the same keys; groups of flows and proxies have those of `tcp`.
        name = re.sub(r"\[[^]]*\]", "", row["name"])
        short = LINK_KEY.sub("", re.sub(r"^(flows|proxies)\.\*\.tcp", "tcp", name))
        assert f"`{name}`" in shown or f"`{short}`" in shown, name
    for row in _engine.columns():
        page = (site / f"reference/tables/{row['table']}.md").read_text("utf-8")
        assert f"`{row['name']}`" in page


def test_forty_scenarios_are_in_the_gallery(site: Path) -> None:
    assert len([*(site / "gallery").glob("*.md")]) > 40


def test_commands_in_the_gallery_are_code(site: Path) -> None:
    """Check that commands in comments of scenarios are shown as code.

    As prose they had typographic dashes and quotes, and failed when pasted.
    """
    (page,) = (site / "gallery").rglob("l4s.md")
    text = page.read_text(encoding="utf-8")
    command = "--set 'topology.dumbbell.bottleneck.queue={ kind = \"codel\", ecn = true }'"
    assert f"```sh\n{command}\n```" in text


def test_links_to_generated_pages_lead_somewhere(site: Path) -> None:
    for page in [*written(), *site.rglob("*.md")]:
        home = page.relative_to(site) if page.is_relative_to(site) else page.relative_to(DOCS)
        for link, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            if not link.endswith(".md"):
                continue
            path = (
                DOCS / link[1:] if link.startswith("/") else DOCS / home.parent / link
            ).resolve()
            inside = path.relative_to(DOCS) if path.is_relative_to(DOCS) else None
            made = site / inside if inside and inside.parts[0] in GENERATED else path
            if page.is_relative_to(site) or made != path:
                assert made.exists(), f"{home}: {link}"
                assert not anchor or anchor in anchors_of(made), f"{home}: {link}#{anchor}"


def test_charts_of_the_site_have_the_colours_of_plots() -> None:
    css = Path("docs/static/longhaul.css").read_text(encoding="utf-8")
    light = re.search(r"^html \{(.*?)\}", css, re.MULTILINE)
    assert light is not None
    assert tuple(re.findall(r"#[0-9a-f]{6}", light[1])) == styles.OF_SITE
    names = ["web", "cubic-0", "cubic-1", "bbr3", "reno"]
    places = colours([Line(name, [0.0], [1.0]) for name in names])
    assert len(set(places)) == len(places)
    for name, place in zip(("cubic", "bbr3", "reno"), (places[1], *places[3:]), strict=True):
        assert styles.OF_SITE[place] == styles.ALGORITHMS[name].colour
    assert max(colours([Line(str(k), [0.0], [1.0]) for k in range(20)])) < len(styles.OF_SITE)


def test_laws_are_set_as_equations() -> None:
    law = "congestion: cwnd = (1 - decrease)^2 * cwnd if a loss is lost"
    table = "".join(laws.equations([law], ["decrease"]))
    assert '<th scope="row">congestion</th>' in table
    decrease = "(1 \N{MINUS SIGN} <var>decrease</var>)<sup>2</sup>"
    assert f"<var>cwnd</var> = {decrease} \N{MIDDLE DOT} <var>cwnd</var>" in table
    # Words of a sentence are not marked as variables.
    assert table.endswith("if a loss is lost</td></tr></table>")


def test_the_chart_of_speed_has_the_rows_of_readme() -> None:
    chart = home.speed((ROOT / "README.md").read_text(encoding="utf-8"))
    assert all(name in chart for name in home.COMPARED)
    assert chart.count('class="ours"') == len(home.COMPARED)
