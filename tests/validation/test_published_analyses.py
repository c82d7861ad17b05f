"""Analyses of the published tables: they return the published results to the printed digits."""

import pytest

from validation.nist_2010.__main__ import PAGE, page
from validation.nist_2010.checks import CHECKS, Check


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.source}: {check.what}")
def test_published_values_follow_from_the_published_tables(check: Check) -> None:
    values = list(check.values())
    assert values
    for value in values:
        # A value with a known error of the report must disagree; all others must agree.
        assert value.agrees != bool(value.error), value


def test_the_page_says_what_the_checks_find() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m validation.nist_2010"
