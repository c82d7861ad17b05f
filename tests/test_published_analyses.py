"""Analyses fed with the published tables return the published figures, to the printed digits."""

import pytest

from validation.nist_2010.__main__ import PAGE, page
from validation.nist_2010.checks import CHECKS, Check


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.source}: {check.what}")
def test_published_figures_follow_from_the_published_tables(check: Check) -> None:
    figures = list(check.figures())
    assert figures
    for figure in figures:
        # A figure that the report has wrong has to be wrong, too: nothing is excused twice.
        assert figure.agrees != bool(figure.error), figure


def test_the_page_says_what_the_checks_find() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m validation.nist_2010"
