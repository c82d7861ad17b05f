"""Rows of a study's page: claims, figures, experiments and counts."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from test_study_verdicts import claim

from longhaul.analysis.families import DIFFERENCE, Family
from longhaul.analysis.judging import CONTRADICTED, NOT_RUN, REPRODUCED, UNDECIDED
from longhaul.plots.styles import ALGORITHMS
from longhaul.studies import conclusions, exploration, ledger, page, parts, reading, set_up
from longhaul.studies.claims import Claim
from longhaul.studies.conclusions import Column, Conclusion, Conclusions, Summary
from longhaul.studies.experiments import Experiment
from longhaul.studies.families import FamilyJudgement
from longhaul.studies.figures import Figure, Frame, Line, svg
from longhaul.studies.judgement import Judgement
from longhaul.studies.partial import CoveredLevels
from longhaul.studies.questions import DECLARED

PART = CoveredLevels("n", (1,), 2)


def about(name: str, experiments: str = "E", metric: str = "m", source: str = "") -> Claim:
    words = {"of": experiments.split()[0], "metric": metric}
    question = DECLARED["value"].question(words, experiments.split())
    named = replace(claim(0, 1), id=name, source=source, question=question)
    return replace(named, experiments=tuple(experiments.split()))


def judged(of: Claim, verdict: str = REPRODUCED, so_far: str = "", **facts: Any) -> Judgement:  # noqa: ANN401
    measured = None if verdict == NOT_RUN else 0.5
    return replace(Judgement(of, measured, None, verdict, "full", 1, so_far=so_far), **facts)


def figure(number: str, *lines: tuple[str, str], experiments: tuple[str, ...] = ("E",)) -> Figure:
    made = [Line(name, metric, "label", ALGORITHMS["reno"]) for name, metric in lines]
    return Figure(number, f"Title {number}", experiments, "as printed", Frame("x", "y"), lines=made)


def test_verdicts_so_far_are_of_claims_on_a_part_that_are_open() -> None:
    """Check the counts of preliminary verdicts, which missing levels could still change."""
    ones = [
        judged(about("A"), UNDECIDED, so_far, part=PART, is_partial=True)
        for so_far in (REPRODUCED, REPRODUCED, CONTRADICTED, UNDECIDED, "", "", "")
    ]
    ones += [judged(about("B"), part=PART), judged(about("C"), is_partial=True)]
    assert page._so_far(ones) == {"claims": 7, "agreeing": 2, "others": 2, "not_comparable": 3}
    assert set(page._so_far([]).values()) == {0}


def test_claims_are_shown_in_the_figures_that_their_source_cites() -> None:
    """Check that a claim is shown in the figures that its source cites.

    Other claims are shown in the first figure with their metric and experiment, if any.
    """
    figures = [figure("1", ("E", "m")), figure("2", ("E", "m"), ("F", "k")), figure("3")]
    ones = [
        judged(about("cited", source="Figures 2 and 3")), judged(about("drawn", source="Table 1")),
        judged(about("none", metric="k")), judged(about("other", "F", "k", "Figure 9")),
    ]  # fmt: skip
    assert page._figures_of(figures, ones) == {
        "cited": ["2", "3"], "drawn": ["1"], "none": [], "other": ["2"],
    }  # fmt: skip


def study(*theory: str, **more: Any) -> Any:  # noqa: ANN401
    """Return a study of the experiments E and F; those named in `theory` have no scenario."""
    experiments = {
        name: SimpleNamespace(template=None if name in theory else {}, title=f"<{name}>")
        for name in ("E", "F")
    }
    return SimpleNamespace(experiments=experiments, head=SimpleNamespace(title="Title"), **more)


def test_a_claim_is_a_row() -> None:
    printed = replace(claim(0, inf).expected, printed=0.25)
    of = replace(about("A", "E F", source="derived: a"), tolerance="wide", expected=printed,
                 sentence="s", narrower="loads")  # fmt: skip
    one = judged(of, interval=(0.25, 2.0), shape="normal", reason="why", needs="E: 2 runs")
    assert page._row(one, ["1"], None, study()) == {
        "figures": ["1"], "explore": "", "id": "A", "experiment": "E", "experiments": "E F",
        "statement": "it is so", "printed": "0.25", "band": "at least 0", "tolerance": "wide",
        "source": "derived: a", "measured": "0.5", "interval": "0.25 to 2", "shape": "normal",
        "verdict": REPRODUCED, "reason": "why", "runs": "one run", "needs": "", "derived": True,
        "sentence": "s", "narrower": "loads",
    }  # fmt: skip
    missing = page._row(judged(of, NOT_RUN, needs="E: 2 runs"), [], None, study())
    assert (missing["needs"], missing["measured"]) == ("E: 2 runs", "")


def test_rows_lead_to_the_runs_of_their_first_experiment() -> None:
    """Check that a claim's row links to the runs of its first experiment in the explorer.

    An experiment of theory has no runs to link to, and without an explorer there are no links.
    """
    explorer = Path("here/link-explorer.html")
    both = judged(about("A", "E F"))
    linked = page._row(both, [], explorer, study("F"))["explore"]
    assert linked == exploration.link_to(explorer, "Title", "E")
    assert page._row(both, [], explorer, study("E"))["explore"] == ""
    assert page._row(both, [], None, study())["explore"] == ""


@pytest.mark.parametrize(("verdict", "text"), [("", "cells stand"), (UNDECIDED, UNDECIDED)])
def test_a_family_is_a_row(verdict: str, text: str) -> None:
    family = Family((0.5, 0.75, -0.5), (-0.5, 1.0), DIFFERENCE)
    one = FamilyJudgement("loads", "loss", ("A", "B"), family, verdict)
    assert page._family(one) == {
        "title": "loads", "metric": "loss", "claims": ("A", "B"), "replications": 3, "reaching": 1,
        "difference": "+25 %", "verdict": text,
    }  # fmt: skip


RUNS = pl.DataFrame(
    {
        "experiment": ["E", "E", "E", "F"], "n": [1, 1, 2, 1], "k": [None] * 4,
        "results_version": [8, 7, 8, 7],
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "axes", "runs", "row"),
    [
        ("E", ("n", "absent"), RUNS, ("3", "1 to 2", "7 (1 runs), 8 (2 runs)")),
        ("E", (), RUNS, ("3", "3", "7 (1 runs), 8 (2 runs)")),
        ("F", ("n",), RUNS, ("1", "1", "7")), ("G", ("n",), RUNS, ("0", "", "")),
        ("E", ("n",), pl.DataFrame(), ("0", "", "")),
        ("F", ("n",), pl.DataFrame([RUNS.row(3, named=True)] * 1234), ("1,234", "1234", "7")),
    ],
)  # fmt: skip
def test_an_experiment_is_a_row_of_its_runs(
    name: str, axes: tuple[str, ...], runs: pl.DataFrame, row: tuple[str, str, str]
) -> None:
    """Check an experiment's row on the page: runs, range of replications, versions of results."""
    of: Any = SimpleNamespace(data=SimpleNamespace(values=runs, axes=axes))
    found = page._experiment(Experiment(name, "Title", {}, {}, {}, {}, "the rest"), of)
    assert (found["name"], found["title"], found["left_out"]) == (name, "Title", "the rest")
    assert (found["runs"], found["replications"], found["versions"]) == row


def test_theory_has_no_runs() -> None:
    of: Any = SimpleNamespace(data=SimpleNamespace(values=RUNS, axes=("n",)))
    found = page._experiment(Experiment("E", "Title", None, {}, {}, {}, ""), of)
    assert found == {"name": "E", "title": "Title", "left_out": "", "runs": "theory",
                     "replications": "", "versions": ""}  # fmt: skip


def test_a_figure_has_its_claims_and_counts_others_on_its_experiments() -> None:
    printed = replace(claim(0, 1).expected, printed=0.25)
    ones = [
        judged(replace(about("A"), expected=printed)), judged(about("B"), NOT_RUN),
        judged(about("C", "F E")), judged(about("D", "F")), judged(about("G", "E")),
    ]  # fmt: skip
    shown = {"A": ["1", "2"], "B": ["1"], "C": [], "D": [], "G": ["2"]}
    found = page._figure(figure("1"), None, ones, shown)
    assert found == {
        "number": "1", "title": "Title 1", "published": "as printed", "experiments": ("E",),
        "svg": None, "others": 2,
        "claims": [
            {"id": "A", "statement": "it is so", "printed": "0.25", "measured": "0.5",
             "verdict": REPRODUCED},
            {"id": "B", "statement": "it is so", "printed": "0 to 1", "measured": "",
             "verdict": NOT_RUN},
        ],
    }  # fmt: skip


def test_a_conclusion_counts_the_claims_that_it_asks_of_the_source_and_of_us() -> None:
    """Check that a conclusion counts its claims, except those that check the set-up.

    The number of claims of our own (`derived`) does not include those that were not run.
    """
    sources = ("derived", "derived", "derived", "set-up", "hypothesis", "Table 2")
    verdicts = (REPRODUCED, CONTRADICTED, NOT_RUN, REPRODUCED, UNDECIDED, REPRODUCED)
    pairs = enumerate(zip(sources, verdicts, strict=True))
    ones = [judged(about(f"A{n}", source=source), verdict) for n, (source, verdict) in pairs]
    found = conclude(ones, claims=("A0", "A1", "A2", "A3", "A4"))
    assert [name for name, _ in found["claims"]] == ["A0", "A1", "A2", "A4"]
    assert (found["derived"], found["hypotheses"], found["count"]) == (2, 1, 4)
    assert found["counts"] == {"reproduced": 1, "undecided": 1, "outside the band": 0,
                               "contradicted": 1, "not run": 1}  # fmt: skip
    assert (found["title"], found["text"], found["source"]) == ("T", "text", "p. 1")
    assert (found["about"], found["note"]) == (("Reno",), "a note")
    assert (found["verdict"], found["worst"], found["needs"]) == ("mixed", CONTRADICTED, "2 runs")
    assert found["rests_on"] == [
        'on 1 of 2 ns of <a href="#run-E" title="&lt;E&gt;">E</a>, G&lt;'
    ]  # fmt: skip


def conclude(judgements: Sequence[Judgement], claims: tuple[str, ...]) -> dict[str, Any]:
    conclusion: Any = SimpleNamespace(
        title="T", text="text", source="p. 1", about=("Reno",), note="a note", claims=claims
    )
    chosen = [one for one in judgements if one.claim.id in claims]
    outcome: Any = SimpleNamespace(
        verdict="mixed", worst=CONTRADICTED, rests_on=["on 1 of 2 ns of E, G<"], needs="2 runs",
        there=3, claims=len(chosen) - 1,
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conclusions, "outcome", lambda *_: outcome)
        patch.setattr(conclusions, "judgements_of", lambda *_: chosen)
        return page._conclusion(study(), conclusion, judgements)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# Title\n\nText.\n", "<p>Text.</p>\n"), ("", ""), ("Text.\n", "<p>Text.</p>\n"),
        ("## Part\n\n# Late\n", "<h2>Part</h2>\n<h1>Late</h1>\n"),
        ("[a](b.md) and [c](d.md#e) [f](mailto:g)\n",
         '<p>a and c <a href="mailto:g">f</a></p>\n'),
        ("|a|\n|---|\n|1|\n", "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n"
         "<td>1</td>\n</tr>\n</tbody>\n</table>\n"),
    ],
)  # fmt: skip
def test_a_readme_is_shown_without_its_title(text: str, html: str) -> None:
    assert page._rendered(text) == html


@pytest.mark.parametrize(
    ("readme", "recorded", "facts", "scale"),
    [
        ("1<!-- A -->", True, "other", "full"), ("1<!-- A -->", True, "same", ""),
        ("1<!-- A -->", False, "other", ""), ("no numbers", True, "other", ""),
    ],
)  # fmt: skip
def test_numbers_of_another_record_are_said_to_be(
    readme: str, recorded: bool, facts: str, scale: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    of = study(readme=readme, recorded=tmp_path)
    if recorded:
        (tmp_path / "full").mkdir()
        (tmp_path / "full/run.json").write_text("{}")
    same: Any = SimpleNamespace(facts="same")
    shown: Any = SimpleNamespace(facts=facts)
    monkeypatch.setattr(page, "latest_recorded", lambda _: (tmp_path / "full", same))
    assert page._other_numbers(of, shown) == scale


def test_a_report_is_of_all_claims_and_the_judgements_of_the_chosen_experiments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ones = [judged(about("A", "E")), judged(about("B", "F")), judged(about("C", "F E"))]
    given = []

    def write(*arguments: Any) -> None:  # noqa: ANN401
        given.append(arguments)

    of = study(chosen=lambda names: [SimpleNamespace(name=name) for name in names or "EF"])
    record: Any = SimpleNamespace(data=None, facts=SimpleNamespace(scale="quick"))
    monkeypatch.setattr(svg, "drawn", Drawn)
    monkeypatch.setattr(ledger, "judge", lambda *_: ones)
    monkeypatch.setattr(page, "write_explorer", lambda *words: words[2])
    monkeypatch.setattr(page, "write", write)
    path = tmp_path / "new/page.html"
    assert page.judged(of, record, path, ["E"]) == (path, [ones[0], ones[2]])
    assert page.judged(of, record, path) == (path, ones)
    explorer = tmp_path / "new/page-explorer.html"
    assert given == [(of, record, ones, ["picture"], path, explorer)] * 2
    assert path.parent.is_dir()


class Drawn:
    """Stand-in for plots that are drawn in the background."""

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> Any:  # noqa: ANN401
        return lambda: ["picture"]

    def __exit__(self, *_: object) -> None:
        pass


def test_conclusions_are_shown_with_questions_summary_and_whom_they_are_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Check that the page has questions, a summary, and the conclusions about each subject.

    Subjects are in the order of their first conclusion.
    """
    question = Conclusion("q", "", "", (), ())
    first = Conclusion("first", "", "", ("b", "a"), ())
    second = replace(first, title="second", about=("a", "c"))
    columns = (Column("printed", {}, {}), Column("measured", {}, {"r": "A"}))
    declared = Conclusions("T", (question,), Summary("S", ("r", "s"), columns), (first, second))
    monkeypatch.setattr(page, "_conclusion", lambda _, one, __: one.title)
    monkeypatch.setattr(conclusions, "read", lambda _: declared)
    monkeypatch.setattr(conclusions, "summary_rows", lambda *_: ["cells r", "cells s"])
    assert page._conclusions(study(), []) == {
        "title": "T", "questions": ["q"], "rows": ["first", "second"],
        "summary": {"title": "S", "heads": [("printed", False), ("measured", True)],
                    "rows": [("r", "cells r"), ("s", "cells s")]},
        "about": [("b", ["first"]), ("a", ["first", "second"]), ("c", ["second"])],
    }  # fmt: skip
    monkeypatch.setattr(conclusions, "read", lambda _: replace(declared, summary=None))
    found = page._conclusions(study(), [])
    assert found is not None
    assert found["summary"] is None
    monkeypatch.setattr(conclusions, "read", lambda _: None)
    assert page._conclusions(study(), []) is None


def test_claims_checks_and_hypotheses_have_their_parts_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that claims, checks and hypotheses are in separate parts of the page.

    Only claims enter the counts of verdicts, and have links to figures and to the explorer.
    """
    sources = {"A": "Figure 1", "B": "set-up", "C": "hypothesis", "D": "Figure 9"}
    ones = [judged(about(name, source=source)) for name, source in sources.items()]
    ones[3] = replace(ones[3], replications=2)
    given: list[dict[str, Any]] = []

    def render(template: str, **values: Any) -> str:  # noqa: ANN401
        assert template == "study.html"
        given.append(values)
        return "html"

    monkeypatch.setattr(page, "page", render)
    monkeypatch.setattr(parts, "figures", lambda _: [figure("1")])
    monkeypatch.setattr(reading, "read", lambda _: "reading")
    monkeypatch.setattr(set_up, "pictures", lambda _, scale: [f"network at {scale}"])
    monkeypatch.setattr(conclusions, "read", lambda _: None)
    of = study(readme="# T\n\nText.\n", recorded=tmp_path, chosen=list)
    of.head.source = "Source"
    facts = SimpleNamespace(scale="quick")
    record: Any = SimpleNamespace(facts=facts, versions=[8], data=None)
    for explorer in (None, tmp_path / "e.html"):
        path = page.write(of, record, ones, [None], tmp_path / "page.html", explorer)
        assert path == tmp_path / "page.html"
        assert path.read_text() == "html"
    alone, linked = given
    assert [alone[key] for key in ("title", "source", "facts", "versions", "readme_of")] == [
        "Title", "Source", facts, [8], "",
    ]  # fmt: skip
    for kind, names in {"rows": "AD", "checks": "B", "hypotheses": "C"}.items():
        assert "".join(row["id"] for row in alone[kind]) == names
    assert [row["figures"] for row in alone["rows"]] == [["1"], []]
    assert (alone["statements"], sum(alone["counts"].values())) == (2, 2)
    assert sum(alone["single"].values()) == 1
    assert (alone["reading"], alone["networks"]) == ("reading", ["network at quick"])
    assert (alone["conclusions"], alone["families"], alone["experiments"]) == (None, [], [])
    assert [one["number"] for one in alone["figures"]] == ["1"]
    assert alone["readme"] == "<p>Text.</p>\n"
    assert (alone["explorer"], linked["explorer"]) == (None, "e.html")
    assert [bool(row["explore"]) for kind in ("rows", "checks", "hypotheses")
            for row in linked[kind]] == [True, True, False, False]  # fmt: skip
    assert not any(row["explore"] for row in alone["rows"])
