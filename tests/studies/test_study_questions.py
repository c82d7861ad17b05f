"""Tests of questions: the numbers that claims ask for, written as `key=value` words.

The tests check the reading of words, the runs that a question needs, and judgements as JSON.
"""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from test_study_verdicts import claim

from longhaul.analysis.judging import NOT_RUN, REPRODUCED
from longhaul.studies.cells import Cells, cell_at
from longhaul.studies.data import Data
from longhaul.studies.judgement import Judgement
from longhaul.studies.measures import GENERAL, question
from longhaul.studies.partial import CoveredLevels
from longhaul.studies.questions import PythonQuestion
from longhaul.studies.questions.python import KINDS, WHOLE_DESIGN
from longhaul.studies.questions.question import Question
from longhaul.studies.questions.shape import Shape, is_axis, whole
from longhaul.studies.questions.words import Sides, is_when, names, words_of


def asked(text: str, experiments: str = "E", measure: str = "value") -> Question:
    return question(GENERAL, measure, words_of(text), experiments.split())


def test_words_are_numbers_where_they_can_be() -> None:
    assert words_of("n=2 queue=red load=1e-3 less.n= m=1=2") == {
        "n": 2.0, "queue": "red", "load": 1e-3, "less.n": "", "m": "1=2",
    }  # fmt: skip
    assert words_of("of=6 less.of=6 metric=1e3 each=6") == {
        "of": "6", "less.of": "6", "metric": "1e3", "each": 6.0,
    }  # fmt: skip
    assert words_of("") == {}
    with pytest.raises(ValueError, match="expected key=value, found `queue`"):
        words_of("n=2 queue")


def test_words_are_sorted_by_side() -> None:
    """Check which `key=value` words select the two numbers that a claim compares.

    Words without a prefix select the first number. They select the second number, too, but a word
    with a prefix replaces one of them: `over.metric=k` replaces `metric=m`.
    """
    sides = Sides.read(
        words_of("of=E metric=m less.n=2 over.metric=k when.k=1.. each=q runs=each other.n=3")
    )
    assert sides.own == {"of": "E", "metric": "m", "when.k": "1..", "other.n": 3.0}
    assert sides.compared == {"less": {"n": 2.0}, "over": {"metric": "k"}}
    assert sides.side("over") == {**sides.own, "metric": "k"}
    assert sides.all == [sides.own, sides.side("less"), sides.side("over")]
    assert sides.narrowed({"n": 5.0}).all[1]["n"] == 2.0
    assert sides.narrowed({"n": 5.0}).own["n"] == 5.0
    assert (names("a,b"), names(2.0)) == (["a", "b"], ["2.0"])
    assert [is_when(word) for word in ("when.k", "whenever", "when")] == [True, False, False]


def test_a_shape_has_defaults() -> None:
    assert Shape.read({}) == Shape(None, (), None, "largest", None, None, False, False)
    words = words_of("along=n each=q,m then=count above=1 by=replication runs=each")
    assert Shape.read(words) == Shape("n", ("q", "m"), None, "count", 1.0, None, True, True)
    ordered = words_of("each=q order=a>b then=share below=2")
    assert Shape.read(ordered) == Shape(None, ("q",), "a>b", "share", None, 2.0, False, False)
    assert Shape.read(words).axes == ["n", "q", "m"]
    assert Shape.read(words_of("each=metric,q")).axes == ["q"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("by=run", "where: by: expected replication, found `run`"),
        ("runs=all", "where: runs: expected each, found `all`"),
        ("each=n then=most",
         "where: then: expected one of largest, least, mean, middle, count, share, found `most`"),
        ("each=n then=count", "where: then=count and then=share need above= or below="),
        ("each=n then=count above=1 below=3",
         "where: then=count and then=share need above= or below=, not both"),
        ("each=n then=mean above=1", "where: then=count and then=share need above= or below="),
        ("below=1", "where: then=count and then=share need above= or below="),
        ("then=mean", "where: then needs each"),
        ("order=a>b each=n", "where: order needs each, of one axis, and then"),
        ("order=a>b each=n,m then=mean", "where: order needs each, of one axis, and then"),
        ("order=a+b each=n then=mean",
         "where: order: expected levels separated by `>` such as a+b>c, found `a+b`"),
        ("order=1..2+3>* each=n then=mean",
         "where: order: expected a range of numbers such as 5..79, found `1..2,3`"),
    ],
)  # fmt: skip
def test_shapes_that_cannot_be_are_refused(words: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^where: ") as refused:
        Shape.read(words_of(words))
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("words", "is_refused"),
    [
        ("metric=m less.n=1 by=replication", False), ("metric=m over.n=1 by=replication", False),
        ("metric=m less.n=1 over.n=2 by=replication", True), ("metric=m by=replication", True),
        ("metric=m less.metric=k by=replication", True),
        ("metric=m,k less.n=1 by=replication", True), ("metric=m/k less.n=1 by=replication", True),
        ("metric=m,k less.n=1 by=replication each=metric", False),
        ("metric=m along=n with.metric=k", True), ("metric=m along=n", False),
        ("metric=m with.metric=k", False),
    ],
)  # fmt: skip
def test_comparisons_that_cannot_be_are_refused(words: str, is_refused: bool) -> None:
    text = f"of=E {words}"
    if not is_refused:
        asked(text)
        return
    with pytest.raises(ValueError, match="where: "):
        asked(text)


@pytest.mark.parametrize("word", ["n", "less.n", "when.k"])
def test_ranges_that_are_none_are_refused(word: str) -> None:
    message = rf"^where: {word}: expected a range of numbers such as 5\.\.79, found `1\.\.2,3`"
    with pytest.raises(ValueError, match=message):
        asked(f"of=E metric=m {word}=1..2,3")


@pytest.mark.parametrize(
    ("given", "axis", "needs_all", "is_set"),
    [("", None, False, ""), ("*", None, True, "*"), ("n", "n", False, "n")],
)
def test_a_statement_is_about_an_axis_or_all_runs(
    given: str, axis: str | None, needs_all: bool, is_set: str
) -> None:
    words = f"of=E metric=m whole={given}" if given else "of=E metric=m"
    of = asked(words)
    assert (of.whole_axis, of.needs_all_runs, of.whole) == (axis, needs_all, is_set)
    assert is_axis(is_set) == (axis is not None)
    assert whole(words_of(words)) == is_set


def test_a_question_has_a_metric_levels_and_an_experiment() -> None:
    of = asked("of=F metric=m n=2 queue=red less.n=1", "E F")
    assert (of.metric, of.of, of.names_runs, of.levels) == (
        "m",
        "F",
        True,
        {"n": 2.0, "queue": "red"},
    )
    bare = PythonQuestion.read("own", lambda data: 1.0, {}, ["E"])
    assert (bare.metric, bare.of, bare.names_runs, bare.is_plain) == ("", "E", False, False)
    assert (bare.is_extreme, bare.in_samples(None)) == (False, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "is_plain"),
    [
        ("n=1", True),
        ("n=1 less.n=2", False),
        ("when.k=1..", False),
        ("over.n=2 by=replication", False),
    ],
)
def test_a_plain_question_compares_nothing(words: str, is_plain: bool) -> None:
    assert asked(f"of=E metric=m {words}").is_plain == is_plain


def test_the_level_of_a_cell_needs_all_other_words_alike() -> None:
    of = asked("metric=m of=E n=3 queue=red")
    cell = {"of": "E", "metric": "m", "queue": "red"}
    assert of.level_in(cell, "n") == 3.0
    assert of.level_in(cell | {"queue": "codel"}, "n") is None
    assert of.level_in({"of": "E", "queue": "red"}, "n") is None
    assert of.level_in(cell | {"n": 3.0}, "k") is None
    bare = PythonQuestion.read("own", lambda data: 1.0, {"n": 3.0}, ["E", "F"])
    assert bare.level_in({"of": "E"}, "n") == 3.0
    assert bare.level_in({"of": "F"}, "n") is None


def experiment(name: str, *axes: str) -> Any:  # noqa: ANN401
    """Return an experiment with two levels of each axis; the quick scale has only one cell."""
    levels: list[dict[str, float]] = [{}]
    for axis in axes:
        levels = [{**cell, axis: level} for cell in levels for level in (1.0, 2.000000001)]
    return SimpleNamespace(
        name=name,
        axes=axes,
        columns=set(),
        words=[],
        levels=lambda axis, scale: ["red"] if axis == "queue" else [1.0],
        cells=lambda scale: Cells(name, axes, levels[: 9 if scale == "full" else 1]),
    )


KNOWN = {"E": experiment("E", "n", "m"), "F": experiment("F", "n"), "G": experiment("G", "queue")}


@pytest.mark.parametrize(
    ("words", "experiments", "needed"),
    [
        ("of=E metric=rate n=1", "E", {"E 1 1": "rate", "E 1 2": "rate"}),
        ("of=E metric=rate,loss/rate n=1 m=2", "E", {"E 1 2": "loss rate"}),
        # Words for axes that an experiment lacks, and empty words, do not restrict cells.
        ("of=F metric=rate m=1 n=", "F", {"F 1": "rate", "F 2": "rate"}),
        ("of=E metric=rate n=1 m=1", "E F", {"E 1 1": "rate", "F 1": "rate"}),
        # The second side has its own experiment, levels and metric.
        ("of=E metric=rate n=1 m=1 less.of=F less.n=2", "E F", {"E 1 1": "rate", "F 2": "rate"}),
        ("of=E metric=rate n=1 m=1 over.metric=loss", "E", {"E 1 1": "loss rate"}),
        # Cells are selected by another metric, so they need only that metric at first.
        ("of=F metric=rate when.loss=1..", "F", {"F 1": "loss", "F 2": "loss"}),
    ],
)  # fmt: skip
def test_a_question_needs_the_cells_of_all_sides(
    words: str, experiments: str, needed: dict[str, str]
) -> None:
    found = asked(words, experiments).cells(KNOWN)
    assert {
        " ".join([name, *(f"{level:g}" for _, level in levels)]): " ".join(sorted(metrics))
        for (name, levels), metrics in found.items()
    } == needed


def test_fewer_cells_are_needed_at_the_quick_scale() -> None:
    assert len(asked("of=E metric=m").cells(KNOWN)) == 4
    assert len(asked("of=E metric=m").cells(KNOWN, "quick")) == 1


def test_levels_of_cells_have_six_digits_as_in_recorded_results() -> None:
    axes = ("load", "n", "queue")
    cell = cell_at("E", axes, {"queue": "red", "n": 1234567, "load": 0.123456789, "other": 1})
    assert cell == ("E", (("load", 0.123457), ("n", 1234567), ("queue", "red")))


def test_a_question_in_python_passes_its_words() -> None:
    def own(data: Any, n: float, queue: str = "red") -> int:  # noqa: ANN401
        return int(n) + len(queue)

    known: Any = {}
    of = PythonQuestion.read("own", own, {"n": 2.0, "whole": "m"}, ["E"])
    data: Any = None
    value = of.value(data)
    assert (value, type(value)) == (5.0, float)
    assert (of.words, of.whole_axis) == ({"n": 2.0}, "m")
    # The existing levels of the axis `whole` are passed as a word.
    with pytest.raises(ValueError, match=r"^own: got an unexpected keyword argument 'm'"):
        of.check(known)
    PythonQuestion.read("own", own, {"n": 2.0, "whole": "queue"}, ["E"]).check(known)
    # They are not passed if no level lacks runs.
    with pytest.raises(ValueError, match=r"^own: missing a required argument: 'n'"):
        PythonQuestion.read("own", own, {"whole": "n"}, ["E"]).check(known)
    PythonQuestion.read("own", own, {"n": 2.0}, ["E"]).check(known)
    with pytest.raises(ValueError, match=r"^own: missing a required argument: 'n'"):
        PythonQuestion.read("own", own, {}, ["E"]).check(known)
    assert of.metrics_of({"metric": "a,b"}) == ["a", "b"]
    assert of.kind("n") == ""
    KINDS[own] = "share"
    WHOLE_DESIGN.add(own)
    try:
        assert of.kind("n") == "share"
        # A measure of a whole design needs all cells of its experiments.
        both = replace(of, experiments=("E", "F"))
        assert len(both.cells(KNOWN)) == 6
        assert set(both.cells(KNOWN).values()) == {()}
        assert len(both.cells(KNOWN, "quick")) == 2
    finally:
        del KINDS[own]
        WHOLE_DESIGN.discard(own)


def test_a_claim_s_axes_are_those_of_its_experiments() -> None:
    for words in ("metric=rate n=1", "metric=rate each=n", "metric=rate along=m", "metric=rate m=",
                  "metric=rate runs=each each=replication", "metric=rate when.loss=1..",
                  "metric=rate whole=n", "metric=rate whole=*"):  # fmt: skip
        asked(f"of=E {words}").check(KNOWN)
    for words, message in (
        ("of=E", "where: missing metric"), ("metric=rate", "where: missing of"),
        ("of=H metric=rate", "where: there is no experiment H"),
        ("of=E metric=rate less.of=H", "where: there is no experiment H"),
        ("of=F metric=rate m=1", "where: F has no axis `m`; axes: n; other words: of, metric, "),
        ("of=E metric=rate k=1", "where: E has no axis `k`; axes: m, n; other words: "),
        ("of=E metric=rate each=k", "where: E has no axis `k`"),
        ("of=E metric=rate whole=k", "where: E has no axis `k`"),
        ("of=E metric=rate each=replication", "where: E has no axis `replication`"),
        ("of=E,F metric=rate along=m", "where: along: F has no axis `m`"),
        ("of=G metric=rate along=queue",
         "where: along: expected an axis with numbers as levels, found `queue` of G"),
        ("of=E metric=rate+", "expected metrics, numbers"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r".") as refused:
            asked(words).check(KNOWN)
        assert str(refused.value).startswith(message)


def judgement(**facts: Any) -> Judgement:  # noqa: ANN401
    return replace(Judgement(claim(0, 1), 0.5, (0.25, 0.75), REPRODUCED, "full", 3), **facts)


@pytest.mark.parametrize(
    ("facts", "of"),
    [
        ({"interval": None}, None), ({"interval": None, "shape": "normal"}, None), ({}, "median"),
        ({"shape": "normal"}, "one more run, normal"),
    ],
)  # fmt: skip
def test_an_interval_is_of_a_median_or_one_more_run(facts: dict[str, Any], of: str | None) -> None:
    assert judgement(**facts).interval_of == of


def test_an_interval_of_single_runs_is_of_the_claim_s_statistic() -> None:
    of_runs = asked("of=E metric=m runs=each", measure="ninth_decile")
    own = replace(claim(0, 1), question=of_runs, measure="ninth_decile")
    assert judgement(claim=own).interval_of == "ninth decile"


@pytest.mark.parametrize(
    ("count", "text"), [(0, ""), (1, "one run"), (2, "2 replications"), (20, "20 replications")]
)
def test_replications_are_written_out(count: int, text: str) -> None:
    assert judgement(replications=count).runs == text


def test_a_judgement_is_printed_as_json() -> None:
    assert judgement(reason="why").outcome == "reproduced: why"
    assert judgement().outcome == "reproduced"
    band = {"value": None, "low": 0, "high": 1}
    bare = {
        "id": "C", "experiment": "E", "statement": "it is so", "derived": False, "set_up": False,
        "hypothesis": False, "sentence": None, "narrower": None, "expected": band, "measured": None,
        "interval": None, "interval_of": None, "source_runs": None, "verdict": NOT_RUN,
        "reason": None, "scale": "full", "replications": 3, "needs": None, "so_far": None,
        "on": None, "family": None,
    }  # fmt: skip
    assert judgement(measured=None, interval=None, verdict=NOT_RUN).as_json() == bare
    of = replace(claim(0, float("inf")), source="set-up", runs="4", sentence="s", narrower="n")
    full = judgement(
        claim=of, reason="why", needs="runs", so_far="open", part=CoveredLevels("n", (1, 2), 3),
        family=SimpleNamespace(as_json=lambda: "family"),
    ).as_json()  # fmt: skip
    assert full == bare | {
        "set_up": True, "sentence": "s", "narrower": "n", "measured": 0.5, "reason": "why",
        "expected": band | {"high": None}, "interval": [0.25, 0.75], "interval_of": "median",
        "source_runs": "4", "verdict": REPRODUCED, "needs": "runs", "so_far": "open",
        "on": {"axis": "n", "levels": [1, 2], "of": 3}, "family": "family",
    }  # fmt: skip


def grid() -> Data:
    """Return results of experiments A (two queue disciplines) and B (one) for 1, 2 and 4 flows."""
    rows = [
        {"experiment": name, "replication": number, "queue": queue, "n": n, "rate": rate * n,
         "delay": delay}
        for name, queue, rate, delay in (("A", "red", 1.0, 8.0), ("A", "codel", 3.0, 2.0),
                                         ("B", "red", 2.0, 0.0))
        for n in (4, 1, 2) for number in (0, 1)
    ]  # fmt: skip
    return Data(pl.DataFrame(rows), pl.DataFrame(), ("queue", "n"))


@pytest.mark.parametrize(
    ("measure", "words", "expected"),
    [
        ("fall", "queue=red along=n", -3.0), ("ends", "queue=red along=n", 4.0),
        ("best", "queue=red along=n", 4.0), ("best", "queue=red along=n metric=1/rate", 1.0),
        ("range", "queue=red", 3.0), ("spread", "queue=red", 4.0),
        ("furthest", "n=1 less.n=4", 9.0),
        ("share", "less.queue=red queue=codel", 1.0), ("share", "over.queue=codel queue=red", 0.0),
        ("share", "n=1 over.n=1", 0.0),
        ("ninth_decile", "queue=red", 3.6),
        ("middle", "queue=codel", 6.0), ("value", "queue=red n=2 against.queue=codel", 1 / 3),
        ("mean", "queue=red n=1,4", 2.5), ("least", "queue=red when.delay=..8 n=2..", 2.0),
    ],
)  # fmt: skip
def test_statistics_are_those_of_selected_values(measure: str, words: str, expected: float) -> None:
    given = {"of": "A", "metric": "rate", **words_of(words)}
    assert question(GENERAL, measure, given, ["A"]).value(grid()) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("measure", "words"),
    [("value", "of=A queue=red n=1 over.of=B"), ("spread", "of=B"), ("ends", "of=B along=n")],
)
def test_a_ratio_to_nothing_has_no_value(measure: str, words: str) -> None:
    with pytest.raises(ZeroDivisionError):
        asked(f"metric=delay {words}", "A B", measure).value(grid())
