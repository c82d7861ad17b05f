"""Tests of the pictures of studies, and of the values of claims in bootstrap samples.

Pictures are drawn in worker processes and in the main process.
"""

import gc
from concurrent.futures import Future
from math import nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from longhaul.studies import ledger, measures
from longhaul.studies.data import NotRunError
from longhaul.studies.figures import svg
from longhaul.studies.questions.python import WHOLE_DESIGN

STUDY: Any = SimpleNamespace(name="link", path=Path("link"), claims=["claim"])
DATA: Any = SimpleNamespace(share=lambda folder: ("shared in", folder.is_dir()))


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Replace the study's figures by nine stand-ins, `figure-0` to `figure-8`."""
    made: list[Any] = [SimpleNamespace(name=f"figure-{number}") for number in range(9)]
    monkeypatch.setattr(svg.parts, "figures", lambda _: made)  # type: ignore[attr-defined]
    return made


def test_a_picture_is_embedded_under_its_name(
    figures: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(figure: Any, data: Any, claims: Any) -> Any:  # noqa: ANN401
        assert (data, claims) == (DATA, ["claim"])
        return None if figure is figures[2] else SimpleNamespace(dpi=72)

    def as_svg(picture: Any, name: str, *, cut: bool, dpi: float) -> str:  # noqa: ANN401
        assert (cut, dpi) == (False, picture.dpi)
        return f"svg of {name}"

    monkeypatch.setattr(svg.drawing, "drawing", draw)  # type: ignore[attr-defined]
    monkeypatch.setattr(svg, "as_svg", as_svg)
    monkeypatch.setattr(svg, "embedded", lambda text, name: (text, name))
    picture: Any = svg._picture(STUDY, DATA, 1)
    assert picture == ("svg of figure-1", "figure-1")
    assert svg._picture(STUDY, DATA, 2) is None


@pytest.mark.parametrize(
    ("cores", "count", "others"),
    [(1, 9, 0), (None, 9, 0), (2, 3, 0), (2, 4, 1), (8, 9, 2), (3, 40, 2), (8, 8, 2)],
)
def test_figures_are_drawn_by_further_cores_if_there_are_many(
    cores: int | None, count: int, others: int, figures: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the number `others` of worker processes that draw `count` figures on `cores` cores.

    One worker is started per four figures; the main process draws too.
    """
    del figures[:]
    figures += range(count)
    pools = []

    class Workers:
        def __init__(self, number: int, *settings: Any) -> None:  # noqa: ANN401
            pools.append((number, *settings[1:]))

        def submit(self, function: Any, number: int) -> "Future[Any]":  # noqa: ANN401
            assert function is svg._of_worker
            future: Future[Any] = Future()
            if number % 2:
                future.set_result(("worker", number))
            return future

        def shutdown(self, *, cancel_futures: bool) -> None:
            pools.append(("ended", cancel_futures))

    monkeypatch.setattr(svg.os, "cpu_count", lambda: cores)  # type: ignore[attr-defined]
    monkeypatch.setattr(svg, "ProcessPoolExecutor", Workers)
    monkeypatch.setattr(svg, "_picture", lambda *given: ("here", given[2]))
    with svg.drawn(STUDY, DATA) as draw:
        drawn: list[Any] = draw()
    if not others:
        assert drawn == [("here", number) for number in range(count)]
        assert pools == []
        return
    assert drawn == [("worker" if number % 2 else "here", number) for number in range(count)]
    given = ("link", Path("link"), ("shared in", True))
    assert pools == [(others, svg._begin, given), ("ended", True)]


def test_garbage_is_collected_less_often_while_figures_are_drawn(figures: list[Any]) -> None:
    del figures[:]
    usual = gc.get_threshold()
    with svg.drawn(STUDY, DATA):
        assert gc.get_threshold()[0] == svg.COLLECTED_AFTER
    assert gc.get_threshold() == usual


def test_a_worker_draws_with_the_tables_that_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    usual = gc.get_threshold()
    monkeypatch.setattr(svg, "_given", given)
    monkeypatch.setattr(svg, "_picture", lambda *all_: all_)
    shared: Any = SimpleNamespace(data=lambda: "data")
    try:
        svg._begin("link", Path("link"), shared)
        assert gc.get_threshold()[0] == svg.COLLECTED_AFTER
    finally:
        gc.set_threshold(*usual)
    [(study, data)] = given
    assert (study.name, study.path, data) == ("link", Path("link"), "data")
    assert svg._of_worker(3) == (study, "data", 3)  # type: ignore[comparison-overlap]


class Asked:
    """Stand-in for a claim's question, with scripted answers."""

    def __init__(self, at_once: list[float] | None, *each: float | Exception) -> None:
        self.at_once = at_once
        self.each = list(each)

    def in_samples(self, samples: Any) -> np.ndarray | None:  # noqa: ANN401
        """Return the scripted numbers, one per bootstrap sample; None if none were given."""
        assert samples == "at once"
        return None if self.at_once is None else np.array(self.at_once)

    def value(self, sample: int) -> float:
        """Return the scripted answer for one bootstrap sample, or raise the scripted error."""
        answer = self.each[sample]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Samples:
    """Stand-in for three bootstrap samples, which counts how often they are iterated over."""

    at_once = "at once"

    def __init__(self) -> None:
        self.passes = 0

    def __iter__(self) -> Any:  # noqa: ANN401
        self.passes += 1
        return iter(range(3))


@pytest.mark.parametrize(
    ("questions", "expected", "passes"),
    [
        ([Asked([1.0, nan, 3.0])], [[1.0, 3.0]], 0), ([None], [[]], 0),
        ([Asked(None, 1.0, 2.0, 3.0)], [[1.0, 2.0, 3.0]], 1),
        # Samples without a value are left out; questions keep their order.
        ([Asked(None, 1.0, NotRunError(), ZeroDivisionError()), None, Asked([5.0]),
          Asked(None, nan, 2.0, 3.0)], [[1.0], [], [5.0], [2.0, 3.0]], 1),
    ],
)  # fmt: skip
def test_claims_are_resampled_at_once_or_one_by_one(
    questions: list[Any], expected: list[list[float]], passes: int
) -> None:
    measured: list[Any] = [
        SimpleNamespace(resampled=question is not None, question=question) for question in questions
    ]
    samples: Any = Samples()
    assert ledger._in_samples(measured, samples) == expected
    assert samples.passes == passes


def test_measures_of_a_design_need_all_of_its_runs() -> None:
    known = measures.Measures()

    @known.register
    def plain(data: Any) -> float:  # noqa: ANN401
        return 1.0

    @known.register_of_design
    def whole(data: Any) -> float:  # noqa: ANN401
        return 2.0

    try:
        assert known == {"plain": plain, "whole": whole}
        assert whole in WHOLE_DESIGN
        assert plain not in WHOLE_DESIGN
    finally:
        WHOLE_DESIGN.discard(whole)
