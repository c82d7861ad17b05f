"""Layout of a study's page."""

import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from longhaul.plots.styles import ALGORITHMS
from longhaul.studies import citations, coverage, page, parts, record, set_up
from longhaul.studies.claims import Claim, _claim
from longhaul.studies.figures import Line, _medians, _power, drawing, printed
from longhaul.studies.measures import GENERAL
from longhaul.studies.study import find


@pytest.mark.parametrize(
    ("source", "numbers"),
    [
        ("Figures 4.17 to 4.19", ["4.17", "4.18", "4.19"]),
        ("section 4.3, Figure 4.2", ["4.2"]),
        ("figures B-2, B-3 and B-4", ["B-2", "B-3", "B-4"]),
        ("Figure 4.11a", ["4.11a"]),
        ("Table 4.1 and section 3.4.2", []),
    ],
)
def test_figures_that_a_source_cites(source: str, numbers: list[str]) -> None:
    assert citations.figures(source) == numbers


def claim(where: Mapping[str, str | float], value: str, measure: str = "value") -> Claim:
    row = dict.fromkeys(("low", "high", "opposite", "tolerance", "runs"), "")
    words = " ".join(f"{word}={level}" for word, level in where.items())
    about = {"id": "C", "experiment": "E1", "measure": measure, "statement": "", "source": ""}
    given = {**row, **about, "where": words, "value": value, "low": "0"}
    return _claim(Path("claims.csv"), 2, given, GENERAL)


def test_a_line_shows_the_numbers_that_are_printed_of_its_own_cells() -> None:
    line = Line("E1", "loss", "Reno", ALGORITHMS["reno"], {"protocol": "reno"})
    claims = [
        claim({"metric": "loss", "protocol": "reno", "load": 50}, "0.08"),
        claim({"metric": "loss", "protocol": "pcwnd", "load": 60}, "0.14"),
        claim({"metric": "queue", "protocol": "reno", "load": 60}, "23"),
        claim({"metric": "loss", "protocol": "reno", "load": 70}, "", "value"),
        claim({"metric": "loss", "protocol": "reno", "load": 80, "less.protocol": "sack"}, "1"),
        claim({"metric": "loss", "protocol": "reno", "load": 90}, "3", "least"),
    ]
    assert printed(line, "load", {}, claims) == {50.0: 0.08}


def test_one_and_ten_are_written_as_such_on_logarithmic_axes() -> None:
    assert [_power(exponent) for exponent in (-1, 0, 1, 2)] == ["10⁻¹", "1", "10", "10²"]


def test_networks_are_drawn_once_with_all_that_runs_over_them() -> None:
    pictures = set_up.pictures(find("sync-tcp-2003"), "full")
    captions = [caption for caption, _ in pictures]
    assert [caption.partition(":")[0] for caption in captions] == ["FTP-MB", "HM", "B-QUEUES"]
    assert all(isinstance(picture, Markup) for _, picture in pictures)
    for text in ("10 cross-3-back", "20 forward", "10 Mbit/s, 1 ms", "92 packets"):
        assert f">{text}</text>" in pictures[0][1]
    # Studies of MesoNet have no such pictures.
    assert set_up.pictures(find("nist-2010"), "full") == []


@pytest.mark.parametrize("name", ["sync-tcp-2003", "split-pep-2009", "dualpi2-2022"])
def test_pictures_have_flows_to_the_right_above_the_routers_and_others_below(name: str) -> None:
    """Check network diagrams: flows to the right are above the routers, others below.

    Routers are in a row at equal distances, and arrows begin and end at them.
    """
    svg = "{http://www.w3.org/2000/svg}"
    pictures = set_up.pictures(find(name), "full")
    assert pictures
    for _, picture in pictures:
        named = f'<svg xmlns="{svg[1:-1]}" '
        root = ElementTree.fromstring(str(picture).replace("<svg ", named, 1))
        width, height = map(int, str(root.get("viewBox")).split()[2:])
        nodes = [
            (int(one.attrib["cx"]), int(one.attrib["cy"])) for one in root.iter(f"{svg}circle")
        ]
        xs, (axis,) = [x for x, _ in nodes], {y for _, y in nodes}
        assert {right - left for left, right in pairwise(xs)} == {set_up.STEP}
        assert (xs[0], width - xs[-1]) == (set_up.MARGIN + set_up.NODE,) * 2
        texts = [
            (int(one.attrib["x"]), int(one.attrib["y"]), str(one.text))
            for one in root.iter(f"{svg}text")
        ]
        assert all(0 < x < width and 0 < y < height for x, y, _ in texts)
        assert len({(x, y) for x, y, _ in texts}) == len(texts)
        ways = [
            tuple(map(float, re.findall(r"-?[\d.]+", one.attrib["d"])))
            for one in root.iter(f"{svg}path")
            if one.get("class") == "flow"
        ]
        of_links = {y for x, y, _ in texts if y > axis + 4 and x in map(sum, pairwise(xs))}
        for (start, y, gap), (ahead, also, end) in zip(ways[::2], ways[1::2], strict=True):
            assert {start, end} <= set(xs)
            assert y == also
            [text] = [
                text for x, at, text in texts if at == y + 4 and abs(2 * x - start - end) <= 1
            ]
            # The arrow's text is in the gap between its two halves.
            assert abs(ahead - gap) > 6 * len(text)
            assert start + end == pytest.approx(gap + ahead, abs=1)
            if end > start:
                assert y < axis
                assert start < gap < ahead < end
            else:
                assert y > max(of_links, default=axis)
                assert end < ahead < gap < start


def test_axes_have_the_plural_of_their_names() -> None:
    assert [coverage._plural(axis) for axis in ("size", "proxy", "flows", "delay", "n")] == [
        "sizes", "proxies", "flows", "delays", "n",
    ]  # fmt: skip


def test_a_line_may_be_made_of_several_metrics() -> None:
    study = find("dualpi2-2022")
    data = record.recorded(study)[1].data
    for figure in parts.figures(study):
        assert drawing(figure, data, study.claims) is not None, figure.number
    line = parts.figures(study)[0].lines[0]
    curve = _medians(data, "rtt_other", line, line.where)
    one, other = (
        data.curve(name, "rtt_other", "dualpi2", **line.where) for name in ("one_bps", "other_bps")
    )
    assert curve.y == pytest.approx(one.y / other.y)


def test_links_to_files_beside_a_readme_are_text_on_the_page() -> None:
    text = "# Title\n\nSee [there](../docs/x.md), [here](#a) and [RFC](https://example.org).\n"
    written = page._rendered(text)
    assert written == (
        '<p>See there, <a href="#a">here</a> and <a href="https://example.org">RFC</a>.</p>\n'
    )


def test_names_of_experiments_lead_to_what_was_run_of_them() -> None:
    study = find("nist-2010")
    linked = page._linked(study, "on 3 of 32 conditions of N7-MAIN, N8H-MAIN: <all>")
    assert '<a href="#run-N7-MAIN" title="A scaled-down network">N7-MAIN</a>, <a' in linked
    assert linked.endswith(": &lt;all&gt;")


def test_numbers_of_a_readme_that_are_of_another_scale_are_said_to_be() -> None:
    study = find("nist-2010")
    full, quick = (record.read(study.recorded / scale, study) for scale in ("full", "quick"))
    assert page._other_numbers(study, full) == ""
    assert page._other_numbers(study, quick) == "full"
