"""Numbers in hand-written documents are those that the commands print today.

`STATEMENTS` has sentences about a scenario with a placeholder for each number, and the source of
the number. The test runs the scenario, fills in the numbers, and searches the sentence. Wall-clock
times, as in docs/speed.md, are not tested.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import longhaul
from validation import bbr3_dualpi2, coexistence, slow_starts
from validation.fluid import __main__ as fluid_page
from validation.mesonet import document as mesonet_page
from validation.mesonet import report as mesonet_report
from validation.ns2 import page
from validation.ns2.cases import gold_cases
from validation.ns2.compare import compare
from validation.response import __main__ as response_page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REPORT = ROOT / "validation" / "ns2" / "report.json"


def text_of(document: str) -> str:
    """Return a document's text, with white space reduced to single spaces."""
    return " ".join((DOCS / document).read_text(encoding="utf-8").split())


def test_pages_are_what_their_commands_write_of_the_recorded_figures() -> None:
    for document, lines in {
        "validation.md": page.page(page.read_report(REPORT)).splitlines(),
        "response-functions.md": response_page.page(list(response_page.recorded())),
        "fluid-and-packets.md": fluid_page.page(fluid_page.recorded()),
        "mesonet_validation.md": mesonet_page.page(mesonet_report.read()).splitlines(),
    }.items():
        written = "\n".join(lines) + "\n"
        assert (DOCS / document).read_text(encoding="utf-8") == written, document


@pytest.mark.long
@pytest.mark.parametrize("name", ["A1_sack_bdp", "A2_reno_bdp", "A6_sack_p1e-3", "A7_htcp_100M"])
def test_recorded_figures_beside_ns2_are_those_of_today(name: str, tmp_path: Path) -> None:
    (case,) = (case for case in gold_cases() if case.name == name)
    (found,) = compare([case], tmp_path, 2)
    recorded = [verdict for verdict in page.read_report(REPORT) if verdict.case == name]
    assert found.verdicts == recorded


@pytest.mark.long
def test_delay_based_algorithms_share_as_the_page_says() -> None:
    written = coexistence.page()
    assert (DOCS / "coexistence.md").read_text(encoding="utf-8") == written


@pytest.mark.long
def test_slow_starts_end_as_the_page_says() -> None:
    assert (DOCS / "slow-starts.md").read_text(encoding="utf-8") == slow_starts.page()


@pytest.mark.long
def test_bbr3_behind_dualpi2_is_as_the_page_says() -> None:
    written = bbr3_dualpi2.page()
    assert (DOCS / "bbr3-dualpi2.md").read_text(encoding="utf-8") == written


GENERATED = ("reference", "gallery", "results", "notebooks")
"""Folders of docs that `python -m tools.site` writes."""


def written() -> list[Path]:
    """Return the pages of docs written by hand, or by commands that keep their measurements."""
    found = sorted(DOCS.rglob("*.md"))
    return [page for page in found if page.relative_to(DOCS).parts[0] not in GENERATED]


PICTURE = re.compile(r"\]\((?:\.\./)*((?:docs/)?images/[^)]+)\)")


def test_pictures_are_there_and_no_others() -> None:
    pages = [ROOT / "README.md", *written(), *ROOT.glob("reproductions/**/*.md")]
    named = {Path(name).name for one in pages for name in PICTURE.findall(one.read_text("utf-8"))}
    assert named == {path.name for path in (DOCS / "images").iterdir()}


LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_pages_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGES.md", *written()]
    pages += [*ROOT.glob("reproductions/**/*.md"), *ROOT.glob("validation/*.md")]
    for one in pages:
        for link, anchor in LINK.findall(one.read_text(encoding="utf-8")):
            written_by = {
                "notes.md": DOCS,
                "linux_modules.md": DOCS,
                "coexistence.md": DOCS,
                "slow_starts.md": DOCS,
                "bbr3_dualpi2.md": DOCS,
                "quic_stacks.md": DOCS,
            }
            folder = written_by.get(one.name, one.parent)
            target = folder / link if link else one
            if any((DOCS / name) in target.resolve().parents for name in GENERATED):
                continue  # `tests/project/test_site.py` knows these
            assert link.startswith("/") or target.exists(), f"{one.relative_to(ROOT)}: {link}"
            if anchor:
                assert anchor in anchors_of(target), f"{one.relative_to(ROOT)}: {link}#{anchor}"


@dataclass(frozen=True)
class Statement:
    """A document's statement on a scenario that ships."""

    document: str
    text: str
    """Text of the document, with a placeholder for each number."""
    scenario: str
    overrides: tuple[str, ...]
    figures: Callable[[longhaul.Results], dict[str, float]]


def _flow(run: longhaul.Results) -> dict[str, float]:
    flow = run.flows.row(0, named=True)
    return {"cuts": flow["cuts_loss"], "goodput": flow["goodput_bps"] * 1e-6}


def _slow_return(run: longhaul.Results) -> dict[str, float]:
    flow = run.flows.row(0, named=True)
    return {"mbps": flow["goodput_bps"] * 1e-6, "rtt": flow["rtt_mean_s"] * 1e3}


def _satellite(run: longhaul.Results) -> dict[str, float]:
    link = run.link_series.filter(pl.col("name") == "bottleneck")
    later = link.filter(pl.col("t_s") >= 100)
    least = later["transmitted_bytes"].diff().drop_nulls().min()
    assert isinstance(least, float)
    return {
        "mbps": run.links.filter(pl.col("name") == "bottleneck")["utilization"][0] * 100,
        "payload": run.flows["goodput_bps"].to_numpy().mean() * 1e-6,
        "least": least * 8e-6,
    }


WHOLE_RUN = ("duration=2000 s", "measure.from=0 s")
UNSPLIT = (*WHOLE_RUN, "proxies=[]", "tcp.delayed_ack=false")


def _unsplit(queue: int, row: str) -> Statement:
    limit = f"topology.dumbbell.bottleneck.queue.limit={queue} packets"
    return Statement(
        "proxy.md", f"| {queue} | {row} |", "split_proxy.toml", (*UNSPLIT, limit), _satellite
    )


def _return_channel(does: str, row: str) -> Statement:
    queue = '{ kind = "droptail", limit = "200 packets" }'
    channel = f'{{ rate = "256 kbps", queue = {queue}{does} }}'
    return Statement(
        "links.md",
        f"| {row} | {{mbps:.1f}} | {{rtt:.0f}} |",
        "satellite_return.toml",
        (f"topology.dumbbell.bottleneck.reverse={channel}",),
        _slow_return,
    )


THINNED = 'ack_thinning = { keep_every = 4, hold = "100 ms" }'


STATEMENTS = (
    _return_channel("", "without either"),
    _return_channel(f", {THINNED}", f"`{THINNED}`".replace("{", "{{").replace("}", "}}")),
    _return_channel(", ack_filtering = true", "`ack_filtering = true`"),
    Statement(
        "links.md",
        "has {cuts} reductions and {goodput:.0f} Mbit/s",
        "emulated_link.toml",
        (),
        _flow,
    ),
    Statement(
        "proxy.md",
        "| utilisation, Mbit/s | drop-tail, 1000 and 3000 packets; RED in packets, 1000 | 94.2 "
        "| {mbps:.2f} | | payload of a flow, Mbit/s | any of them | 1.80 | {payload:.2f} | "
        "| minimum over 1 s, from 100 s on, Mbit/s | drop-tail, 1000 packets | about 90 "
        "| {least:.1f} |",
        "split_proxy.toml",
        WHOLE_RUN,
        _satellite,
    ),
    _unsplit(3000, "96.05 | 95.0 | {mbps:.2f}"),
    _unsplit(1500, "88.87 | 88.9 | {mbps:.2f}"),
    _unsplit(1000, "85.12 | 87.9 | {mbps:.2f}"),
    _unsplit(600, "81.51 | 84.0, from 1.68 for each flow | {mbps:.2f}"),
    _unsplit(300, "78.43 | | {mbps:.2f}"),
)


@pytest.mark.long
@pytest.mark.parametrize(
    "statement", STATEMENTS, ids=lambda one: f"{one.document}: {one.text[:30]}"
)
def test_a_document_states_the_figures_of_today(statement: Statement) -> None:
    run = longhaul.run(ROOT / "scenarios" / statement.scenario, set=statement.overrides)
    written = statement.text.format(**statement.figures(run))
    assert written in text_of(statement.document), written
