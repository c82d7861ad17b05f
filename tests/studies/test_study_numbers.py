"""Numbers of READMEs are those of the recorded results."""

import json
import re
from pathlib import Path

import pytest
from conftest import CommandLine
from test_studies import tiny

from longhaul.studies import record
from longhaul.studies.errors import StudyError
from longhaul.studies.numbers import NUMBER, Numbers, markdown
from longhaul.studies.study import Study, studies

__all__ = ["tiny"]

pytestmark = pytest.mark.usefixtures("workers_here")

README = """# Tiny

Two flows send 1<!-- A --> packets, or 1.00<!-- value of=E1 metric=sent n=1 x 0.001 --> thousand;
0<!-- count A reproduced --> of 9<!-- count A all --> such claims hold.

<!-- table verdicts -->
<!-- end -->

<!-- table parts -->
<!-- end -->

<!-- table own -->
stale
<!-- end -->
"""


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_numbers_of_readmes_are_those_of_the_results(study: Study) -> None:
    _, results = record.recorded(study)
    assert Numbers(study, results).written(study.readme) == study.readme, (
        f"longhaul study tables {study.name} writes them"
    )


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_every_study_says_how_many_claims_hold(study: Study) -> None:
    assert "<!-- table verdicts -->" in study.readme


def test_numbers_and_tables_are_written(tiny: Path, cli: CommandLine) -> None:
    (tiny / "README.md").write_text(README)
    value = '"value": lambda data, of, metric, n: data.value(metric, of, n=n),'
    measures = (tiny / "measures.py").read_text()
    (tiny / "measures.py").write_text(measures.replace('"theory"', f'{value}\n    "theory"'))
    (tiny / "tables.py").write_text(
        'TABLES = {"own": lambda data: ["", "| a |", "|---|", ""]}\n'
        'PARTS = {"chapter 1": "A", "chapter 9": "Z"}\n'
    )
    assert cli("study", "run", "tiny", "-q", "--record").returncode == 0
    stale = cli("study", "tables", "tiny", "--check")
    assert stale.returncode != 0
    assert "longhaul study tables tiny writes them" in stale.stderr
    assert (tiny / "README.md").read_text() == README
    assert cli("study", "tables", "tiny").returncode == 0
    text = (tiny / "README.md").read_text()
    rows = {row["id"]: row for row in json.loads(cli("study", "claims", "tiny", "--json").stdout)}
    written = [found["number"] for found in NUMBER.finditer(text)]
    assert written[0] == f"{rows['A']['measured']:.0f}"
    assert re.fullmatch(r"\d\.\d\d", written[1])
    assert written[2:] == ["1", "1"]
    assert "| statements | 4 | 2 | 0 | 0 | 1 | 1 |" in text
    assert "| chapter 1 | 1 | 1 | 0 | 0 | 0 | 0 |\n| chapter 9 | 0 | 0 | 0 | 0 | 0 | 0 |" in text
    assert "| a |" in text
    assert "stale" not in text
    assert cli("study", "tables", "tiny", "--check").returncode == 0
    page = cli("study", "report", "tiny", "--out", "page.html")
    assert page.returncode == 0, page.stderr
    assert "<!-- A -->" not in re.sub(r"<!--.*?-->", "", Path("page.html").read_text())


def test_numbers_of_the_quick_scale_stand_beside_those_of_the_full(
    tiny: Path, cli: CommandLine
) -> None:
    for scale in ("quick", "full"):
        assert cli("study", "run", "tiny", "-q", "--record", "--scale", scale).returncode == 0
    text = "9<!-- count C not run --> and 9<!-- quick count C not run x 2 -->"
    study = Study("tiny", tiny)
    _, results = record.recorded(study)
    written = Numbers(study, results).written(text)
    # What claim C is about is left out at the quick scale.
    assert [found["number"] for found in NUMBER.finditer(written)] == ["0", "2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1<!-- Z -->", "no claim is called `Z`"),
        ("1<!-- sents n=2 -->", "no measure is called `sents` .did you mean `sent`"),
        ("1<!-- C -->", "claim C has no number"),
        ("1<!-- A lowest -->", "no number `lowest`"),
        ("1<!-- count A reproducd -->", "no verdict is called `reproducd`"),
        ("<!-- table verdict -->\n<!-- end -->", "no table is called `verdict`"),
    ],
)
def test_what_does_not_exist_is_refused(
    text: str, message: str, tiny: Path, cli: CommandLine
) -> None:
    assert cli("study", "run", "tiny", "-q", "--record", "--replications", "1").returncode == 0
    study = Study("tiny", tiny)
    _, results = record.recorded(study)
    with pytest.raises(StudyError, match=message):
        Numbers(study, results).written(text)


def test_thousands_and_decimals_are_kept() -> None:
    found = NUMBER.search("some 12,345.6<!-- A --> packets")
    assert found is not None
    assert found["number"] == "12,345.6"
    assert markdown(("a",), [("1",)]) == ["", "| a |", "| --- |", "| 1 |", ""]
