"""Numbers in READMEs of studies, compared with the recorded results."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from conftest import CommandLine
from ledgers import judgements_of
from test_studies import tiny
from test_study_verdicts import claim

from longhaul.analysis.judging import CONTRADICTED, NOT_RUN, OUTSIDE, REPRODUCED, UNDECIDED
from longhaul.studies import numbers, record
from longhaul.studies.data import Data
from longhaul.studies.errors import StudyError
from longhaul.studies.judgement import Judgement
from longhaul.studies.measures import GENERAL
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
    numbers = Numbers(study, results)
    # Set the cached property, to judge the same results only once.
    vars(numbers)["judgements"] = judgements_of(study.name)
    assert numbers.written(study.readme) == study.readme, (
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
    # The quick scale leaves out the runs of claim C.
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


def judged(name: str, verdict: str = REPRODUCED, source: str = "", *, runs: int = 3) -> Judgement:
    measured = None if verdict == NOT_RUN else 1234.567
    of = replace(claim(0, 1), id=name, source=source)
    return Judgement(of, measured, (0.25, 2000.0) if runs > 1 else None, verdict, "full", runs)


JUDGED = [
    judged("A1"), judged("A2", OUTSIDE, "derived"), judged("A3", NOT_RUN, runs=0),
    judged("B", CONTRADICTED, runs=1), judged("AS", REPRODUCED, "set-up"),
    judged("AH", UNDECIDED, "hypothesis"),
]  # fmt: skip


def written(text: str, folder: Path = Path()) -> str:
    rows = pl.DataFrame({"experiment": ["E"], "n": [2], "replication": [0], "sent": [0.125]})
    data = Data(rows, pl.DataFrame(), ("n",))
    study: Any = SimpleNamespace(name="link", path=folder, measures=GENERAL)
    of: Any = SimpleNamespace(data=data, facts=SimpleNamespace(scale="full"))
    made = Numbers(study, of)
    made.judgements = JUDGED
    return made.written(text)


@pytest.mark.parametrize(
    ("old", "what", "new"),
    [
        # The number of decimals, the thousands separator and the exponent are kept.
        ("1", "A1", "1235"), ("0.00", "A1", "1234.57"), ("1,000", "A1", "1,235"),
        ("1,000.0", "A1", "1,234.6"), ("-7.0", "A1 low", "0.2"), ("0", "A1 high", "2000"),
        ("3.5e-05", "A1", "1.2e+03"), ("7e3", "A1 high x 0.0001", "2e-01"),
        ("0.00", "A1 low x 100", "25.00"), ("0.0", "A1 low x 1e-1", "0.0"),
        ("0.000", "value of=E metric=sent n=2", "0.125"), ("0", "value of=E metric=sent x 8", "1"),
        # Statements of the source count, checks of the set-up and hypotheses do not.
        ("0", "count A reproduced", "1"), ("0", "count A outside the band", "1"),
        ("0", "count A not run", "1"), ("0", "count A contradicted", "0"),
        ("0", "count A all", "3"),
        ("0", "count B contradicted", "1"), ("0", "count A2 all x 100", "100"),
    ],
)  # fmt: skip
def test_a_number_is_written_like_the_one_before_it(old: str, what: str, new: str) -> None:
    assert written(f"a {old}<!-- {what} --> b") == f"a {new}<!-- {what} --> b"


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("C", "no claim is called `C`; available: A1, A2, A3, B, AS, AH"),
        ("A3", "link: claim A3 has no number `measured`"),
        ("B low", "link: claim B has no number `low`"), ("A1 mean", "A1 has no number `mean`"),
        ("count A all of", "no verdict is called `all of`"),
        ("count A", "no verdict is called ``"), ("A1 low x ten", "no number `low x ten`"),
        ("valu of=E", "no measure is called `valu` (did you mean `value`?)"),
        ("valu order=a>b", "no measure is called `valu`"),
    ],
)  # fmt: skip
def test_a_number_that_does_not_exist_is_refused(what: str, message: str) -> None:
    with pytest.raises(StudyError) as refused:
        written(f"0<!-- {what} -->")
    assert message in str(refused.value)


def block(name: str, *lines: str) -> str:
    return "\n".join([f"<!-- table {name} -->", *lines, "<!-- end -->"])


HEAD = "| all | reproduced | undecided | outside the band | contradicted | not run |"
RULES = "| --- | --- | --- | --- | --- | --- | --- |"


def test_the_table_of_verdicts_has_the_kinds_of_claims_that_there_are() -> None:
    assert written(block("verdicts", "stale")) == block(
        "verdicts", "", f"|  {HEAD}", RULES,
        "| statements | 4 | 1 | 0 | 1 | 1 | 1 |",
        "| of these on one run | 1 | 0 | 0 | 0 | 1 | 0 |",
        "| of these derived | 1 | 0 | 0 | 1 | 0 | 0 |",
        "| checks of the set-up | 1 | 1 | 0 | 0 | 0 | 0 |",
        "| hypotheses of ours | 1 | 0 | 1 | 0 | 0 | 0 |", "",
    )  # fmt: skip
    assert numbers.verdicts(JUDGED[:1])[3:] == ["| statements | 1 | 1 | 0 | 0 | 0 | 0 |", ""]


def test_the_table_of_parts_groups_claims_by_the_beginning_of_their_ids() -> None:
    assert numbers.of_parts(JUDGED, {"first": "A", "last": "B", "none": "C"}) == [
        "", f"| claims of {HEAD}", RULES, "| first | 3 | 1 | 0 | 1 | 0 | 1 |",
        "| last | 1 | 0 | 0 | 0 | 1 | 0 |", "| none | 0 | 0 | 0 | 0 | 0 | 0 |", "",
    ]  # fmt: skip


def test_a_study_without_tables_of_its_own_has_two_and_no_parts() -> None:
    assert written(block("parts")) == block("parts", "", f"| claims of {HEAD}", RULES, "")
    with pytest.raises(StudyError) as refused:
        written(block("part"))
    suggested = "no table is called `part` (did you mean `parts`?); available: verdicts, parts"
    assert str(refused.value) == suggested
