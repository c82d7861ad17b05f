"""The numbers in a study's README, updated from its recorded results.

A number is followed by a comment that names its origin. An update keeps the number of decimals, and
the notation with commas or, as in 3.5e-05, with an exponent:

    94.25<!-- value of=PEP-E02 metric=mbps proxy=cubic queue=red size=1000 -->
    94.25<!-- A04-1000 -->

The first comment is a measure with its arguments, as in claims. The second one is the id of a claim
and stands for its measured value. `A04-1000 low` and `A04-1000 high` are the ends of the claim's
interval. A final `x 100` multiplies the number by 100. `count A all` is the number of the source's
statements that are tested by claims whose ids begin with A. `count A reproduced` is the number of
those with this verdict. `quick` before a measure, claim or count uses results of the quick scale.

A table is between `<!-- table NAME -->` and `<!-- end -->`. NAME is `verdicts`, `parts`, or a key
of `TABLES` in the study's module `tables`. The table `parts` counts verdicts by part of the study.
`PARTS` in the module `tables` maps the name of each part to a prefix of its claims' ids. Rendered
pages do not show comments.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from longhaul.analysis.judging import VERDICTS
from longhaul.studies import ledger
from longhaul.studies.data import Data
from longhaul.studies.errors import StudyError, unknown
from longhaul.studies.judgement import Judgement
from longhaul.studies.measures import question
from longhaul.studies.questions import words_of
from longhaul.studies.record import Record, read
from longhaul.studies.statements import counts, statements
from longhaul.studies.study import Study

Table = Callable[[Data], Iterable[str]]

NUMBER = re.compile(
    r"(?P<number>-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)<!-- (?P<what>(?!table |end ).+?) -->"
)
BLOCK = re.compile(r"<!-- table (?P<name>\S+) -->\n.*?<!-- end -->", re.DOTALL)
TIMES = re.compile(r" x (-?\d+\.?\d*(?:e-?\d+)?)$")


class Numbers:
    """Numbers and tables of a study's text, computed from its results."""

    def __init__(self, study: Study, record: Record) -> None:
        self.study = study
        self.data = record.data
        self._scale = record.facts.scale

    def written(self, text: str) -> str:
        """Return the text with updated numbers and tables."""
        text = BLOCK.sub(lambda block: self._table(block["name"]), text)
        return NUMBER.sub(self._number, text)

    @cached_property
    def judgements(self) -> list[Judgement]:
        """The judgements of all claims."""
        return ledger.judge(self.study, self.data, self._scale)

    def _number(self, match: re.Match[str]) -> str:
        old, what = match["number"], match["what"]
        mantissa, exponent, _ = old.partition("e")
        decimals = len(mantissa.partition(".")[2])
        comma = "," if "," in old else ""
        form = "e" if exponent else "f"
        return f"{self._value(what):{comma}.{decimals}{form}}<!-- {what} -->"

    def _value(self, what: str) -> float:
        factor = TIMES.search(what)
        words = TIMES.sub("", what)
        name, _, rest = words.partition(" ")
        if name == "quick":
            value = self._quick._value(rest)
        elif name == "count":
            start, _, verdict = rest.partition(" ")
            value = self._counted(start, verdict)
        else:
            value = self._measured(name, rest) if "=" in rest else self._claimed(name, rest)
        return value * float(factor[1]) if factor else value

    @cached_property
    def _quick(self) -> "Numbers":
        return Numbers(self.study, read(self.study.recorded / "quick", self.study))

    def _counted(self, start: str, verdict: str) -> float:
        claims = ledger.kinds(self.judgements).claims
        if verdict not in ("all", *VERDICTS):
            raise unknown("verdict", verdict, VERDICTS)
        chosen = [judgement for judgement in claims if judgement.claim.id.startswith(start)]
        if verdict == "all":
            return float(len(statements(chosen)))
        return float(counts(chosen)[verdict])

    def _measured(self, name: str, arguments: str) -> float:
        measures = self.study.measures
        if name not in measures:
            raise unknown("measure", name, list(measures))
        return question(measures, name, words_of(arguments), ()).value(self.data)

    def _claimed(self, name: str, end: str) -> float:
        by_id = {judgement.claim.id: judgement for judgement in self.judgements}
        if name not in by_id:
            raise unknown("claim", name, list(by_id))
        judgement = by_id[name]
        ends = judgement.interval or (None, None)
        number = {"": judgement.measured, "low": ends[0], "high": ends[1]}.get(end)
        if number is None:
            raise StudyError(f"{self.study.name}: claim {name} has no number `{end or 'measured'}`")
        return number

    def _table(self, name: str) -> str:
        tables = self._tables()
        if name not in tables:
            raise unknown("table", name, list(tables))
        return "\n".join([f"<!-- table {name} -->", *tables[name](self.data), "<!-- end -->"])

    def _tables(self) -> Mapping[str, Table]:
        own: Mapping[str, Table] = {}
        parts: Mapping[str, str] = {}
        if (self.study.path / "tables.py").is_file():
            module = self.study.module("tables")
            own, parts = getattr(module, "TABLES", {}), getattr(module, "PARTS", {})
        return {
            "verdicts": lambda data: verdicts(self.judgements),
            "parts": lambda data: of_parts(self.judgements, parts),
            **own,
        }


def verdicts(judgements: Sequence[Judgement]) -> list[str]:
    """Return a Markdown table of verdicts, with a row for each kind of claim."""
    claims, checks, hypotheses = ledger.kinds(judgements)
    rows = {
        "statements": claims,
        "of these on one run": ledger.on_one_run(claims),
        "of these derived": [judgement for judgement in claims if judgement.claim.derived],
        "checks of the set-up": checks,
        "hypotheses of ours": hypotheses,
    }
    return _counted("", {name: chosen for name, chosen in rows.items() if chosen})


def of_parts(judgements: Sequence[Judgement], starts: Mapping[str, str]) -> list[str]:
    """Return a Markdown table of verdicts, with a row for each part of the study.

    `starts` maps the name of a part, such as a chapter of the source, to the prefix of its claims'
    ids.
    """
    claims = ledger.kinds(judgements).claims
    rows = {
        part: [judgement for judgement in claims if judgement.claim.id.startswith(start)]
        for part, start in starts.items()
    }
    return _counted("claims of", rows)


def _counted(head: str, rows: Mapping[str, Sequence[Judgement]]) -> list[str]:
    return markdown(
        (head, "all", *VERDICTS),
        [(name, str(len(statements(chosen))), *(str(count) for count in counts(chosen).values()))
         for name, chosen in rows.items()],
    )  # fmt: skip


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table, with an empty line before and after it."""
    lines = [head, ["---"] * len(head), *rows]
    return ["", *("| " + " | ".join(cells) + " |" for cells in lines), ""]
