"""Report of a study: an HTML page with conclusions, set-up, figures, and all claims."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from longhaul.analysis.judging import REPRODUCED, VERDICTS
from longhaul.files.writing import write_text
from longhaul.reports import page
from longhaul.studies import citations, conclusions, ledger, parts, reading, set_up
from longhaul.studies.data import EXPERIMENT, VERSION
from longhaul.studies.experiments import Experiment
from longhaul.studies.exploration import link_to, write_explorer
from longhaul.studies.families import FamilyJudgement
from longhaul.studies.figures import Figure, svg
from longhaul.studies.judgement import Judgement
from longhaul.studies.record import Record
from longhaul.studies.record import recorded as latest_recorded
from longhaul.studies.statements import counts, statements
from longhaul.studies.study import Study


def judged(
    study: Study, record: Record, path: Path, experiments: Sequence[str] = ()
) -> tuple[Path, list[Judgement]]:
    """Judge a study, and write its report to `path` and a page to explore its runs beside it.

    Return the path, and the judgements of claims on the named experiments, or on all of them.
    """
    with svg.drawn(study, record.data) as drawn:
        judgements = ledger.judge(study, record.data, record.facts.scale)
        path.parent.mkdir(parents=True, exist_ok=True)
        explorer = write_explorer(study, record, explorer_of(path))
        write(study, record, judgements, drawn(), path, explorer)
    names = [experiment.name for experiment in study.chosen(experiments)]
    return path, [
        judgement for judgement in judgements if set(judgement.claim.experiments) & set(names)
    ]


def explorer_of(path: Path) -> Path:
    """Return the path of the page for exploring the runs, which is written next to the report."""
    return path.with_name(f"{path.stem}-explorer.html")


def write(
    study: Study, record: Record, judgements: Sequence[Judgement],
    drawn: Sequence[Markup | None], path: Path, explorer: Path | None,
) -> Path:  # fmt: skip
    """Write the report of a study to `path`; it links to the page `explorer` in its directory."""
    claims, checks, hypotheses = ledger.kinds(judgements)
    figures = parts.figures(study)
    shown_in = _figures_of(figures, claims)
    html = page(
        "study.html",
        title=study.head.title,
        source=study.head.source,
        facts=record.facts,
        versions=record.versions,
        verdicts=VERDICTS,
        conclusions=_conclusions(study, judgements),
        counts=counts(claims),
        statements=len(statements(claims)),
        so_far=_so_far(claims),
        single=counts(ledger.on_one_run(claims)),
        rows=[
            _row(judgement, shown_in[judgement.claim.id], explorer, study) for judgement in claims
        ],
        families=[_family(family) for family in ledger.families_of(claims)],
        checks=[_row(judgement, [], None, study) for judgement in checks],
        hypotheses=[_row(judgement, [], None, study) for judgement in hypotheses],
        reading=reading.read(study),
        networks=set_up.pictures(study, record.facts.scale),
        figures=[
            _figure(figure, picture, claims, shown_in)
            for figure, picture in zip(figures, drawn, strict=True)
        ],
        experiments=[_experiment(experiment, record) for experiment in study.chosen()],
        readme=_rendered(study.readme),
        readme_of=_other_numbers(study, record),
        explorer=explorer.name if explorer else None,
    )
    write_text(path, html)
    return path


def _so_far(judgements: Sequence[Judgement]) -> dict[str, int]:
    """Count the undecided claims about all levels of an axis, by provisional verdict.

    Only claims that lack runs at some of the levels are counted.
    """
    looks = [
        judgement.so_far
        for judgement in judgements
        if judgement.part is not None and judgement.is_partial
    ]
    agreeing, not_comparable = looks.count(REPRODUCED), looks.count("")
    return {
        "claims": len(looks),
        "agreeing": agreeing,
        "others": len(looks) - agreeing - not_comparable,
        "not_comparable": not_comparable,
    }


def _figures_of(figures: Sequence[Figure], judgements: Sequence[Judgement]) -> dict[str, list[str]]:
    """Return, by id of a claim, the study's figures (such as `4.17`) that the claim cites.

    If it cites none of them, return the first figure that shows its metric, if there is one.
    """
    numbers = {figure.number for figure in figures}
    drawn = {
        (line.experiment, line.metric): figure.number
        for figure in reversed(figures)
        for line in figure.lines
    }
    by_claim = {}
    for claim in (judgement.claim for judgement in judgements):
        cited = [name for name in citations.figures(claim.source) if name in numbers]
        key = claim.question.of, claim.question.metric
        by_claim[claim.id] = cited or ([drawn[key]] if key in drawn else [])
    return by_claim


def _row(
    judgement: Judgement, figures: Sequence[str], explorer: Path | None, study: Study
) -> dict[str, Any]:
    claim = judgement.claim
    run = study.experiments[claim.experiments[0]].template is not None
    return {
        "figures": figures,
        "explore": link_to(explorer, study.head.title, claim.experiments[0])
        if explorer and run
        else "",
        "id": claim.id,
        "experiment": claim.experiments[0],
        "experiments": " ".join(claim.experiments),
        "statement": claim.statement,
        "printed": ledger.number(claim.expected.printed),
        "band": ledger.band(claim),
        "tolerance": claim.tolerance,
        "source": claim.source,
        "measured": ledger.number(judgement.measured),
        "interval": ledger.span(judgement.interval),
        "shape": judgement.shape,
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "runs": judgement.runs,
        "needs": judgement.needs if judgement.measured is None else "",
        "derived": claim.derived,
        "sentence": claim.sentence,
        "narrower": claim.narrower,
    }


def _family(judged: FamilyJudgement) -> dict[str, Any]:
    family = judged.family
    return {
        "title": judged.title,
        "metric": judged.metric,
        "claims": judged.claims,
        "replications": len(family.values),
        "reaching": family.reaching,
        "difference": f"{100.0 * family.difference:+.0f} %",
        "verdict": judged.verdict or "cells stand",
    }


def _conclusions(study: Study, judgements: Sequence[Judgement]) -> dict[str, Any] | None:
    """Return the source's conclusions, with verdicts and the runs behind them, for the report.

    Return None if the study has no conclusions.
    """
    declared = conclusions.read(study)
    if declared is None:
        return None
    about = dict.fromkeys(name for conclusion in declared.conclusions for name in conclusion.about)
    summary = declared.summary
    return {
        "title": declared.title,
        "questions": [_conclusion(study, question, judgements) for question in declared.questions],
        "summary": None
        if summary is None
        else {
            "title": summary.title,
            "heads": [(column.title, bool(column.claims)) for column in summary.columns],
            "rows": list(
                zip(summary.rows, conclusions.summary_rows(summary, judgements), strict=True)
            ),
        },
        "rows": [_conclusion(study, conclusion, judgements) for conclusion in declared.conclusions],
        "about": [
            (name, [other.title for other in declared.conclusions if name in other.about])
            for name in about
        ],
    }


def _conclusion(
    study: Study, conclusion: conclusions.Conclusion, judgements: Sequence[Judgement]
) -> dict[str, Any]:
    outcome = conclusions.outcome(study, conclusion, judgements)
    own = ledger.kinds(conclusions.judgements_of(conclusion, judgements))
    asked = own.claims + own.hypotheses
    return {
        "title": conclusion.title,
        "text": conclusion.text,
        "source": conclusion.source,
        "about": conclusion.about,
        "note": conclusion.note,
        "verdict": outcome.verdict,
        "worst": outcome.worst,
        "rests_on": [_linked(study, text) for text in outcome.rests_on],
        "needs": outcome.needs,
        "there": outcome.there,
        "count": outcome.claims,
        "derived": sum(
            judgement.claim.derived and judgement.measured is not None for judgement in asked
        ),
        "hypotheses": len(own.hypotheses),
        "counts": counts(asked),
        "claims": [(judgement.claim.id, judgement.verdict) for judgement in asked],
    }


def _linked(study: Study, text: str) -> Markup:
    """Return a text in which the name of each experiment is a link to the experiment's runs.

    The title of the link is that of the experiment.
    """

    def link(found: re.Match[str]) -> str:
        name = found[0]
        if name not in study.experiments:
            return str(escape(name))
        title = escape(study.experiments[name].title)
        return f'<a href="#run-{escape(name)}" title="{title}">{escape(name)}</a>'

    return Markup("".join(map(link, re.finditer(r"[\w.-]*\w|\W", text))))


def _experiment(experiment: Experiment, record: Record) -> dict[str, Any]:
    """Return the report's row on an experiment: numbers of runs, and results versions."""
    row = {"name": experiment.name, "title": experiment.title, "left_out": experiment.quick}
    if experiment.template is None:
        return row | {"runs": "theory", "replications": "", "versions": ""}
    values = record.data.values
    runs = values if values.is_empty() else values.filter(pl.col(EXPERIMENT) == experiment.name)
    if runs.is_empty():
        return row | {"runs": "0", "replications": "", "versions": ""}
    axes = [axis for axis in record.data.axes if axis in runs.columns]
    counts = runs.group_by(axes).len()["len"] if axes else pl.Series([len(runs)])
    counts_per_version = runs[VERSION].value_counts().sort(VERSION).rows()
    several = len(counts_per_version) > 1
    return row | {
        "runs": f"{len(runs):,}",
        "replications": _span(int(counts.min()), int(counts.max())),  # type: ignore[arg-type]
        "versions": ", ".join(
            f"{version} ({count:,} runs)" if several else str(version)
            for version, count in counts_per_version
        ),
    }


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _figure(
    figure: Figure, picture: Markup | None, judgements: Sequence[Judgement],
    shown_in: Mapping[str, Sequence[str]],
) -> dict[str, Any]:  # fmt: skip
    """Return a figure's data for the report, with the claims shown beside the figure.

    Other claims about the figure's experiments are only counted.
    """
    about, others = [], 0
    for judgement in judgements:
        if figure.number in shown_in[judgement.claim.id]:
            about.append(judgement)
        elif not set(figure.experiments).isdisjoint(judgement.claim.experiments):
            others += 1
    return {
        "number": figure.number,
        "title": figure.title,
        "published": figure.published,
        "experiments": figure.experiments,
        "svg": picture,
        "claims": [
            {
                "id": judgement.claim.id,
                "statement": judgement.claim.statement,
                "printed": ledger.number(judgement.claim.expected.printed)
                or ledger.band(judgement.claim),
                "measured": ledger.number(judgement.measured),
                "verdict": judgement.verdict,
            }
            for judgement in about
        ],
        "others": others,
    }


def _other_numbers(study: Study, record: Record) -> str:
    """Return the scale of the README's numbers if they are not from `record`; otherwise empty."""
    if "<!--" not in study.readme or not any(study.recorded.glob("*/run.json")):
        return ""
    folder, recorded = latest_recorded(study)
    return "" if recorded.facts == record.facts else folder.name


def _rendered(text: str) -> Markup:
    """Return Markdown as HTML, without its title; links to files become plain text."""
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(text)
    if tokens and tokens[0].tag == "h1":
        tokens = tokens[3:]
    for token in tokens:
        if token.children:
            token.children = list(_without_files(token.children))
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def _without_files(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield tokens of a text without links to files; links to addresses and anchors stay."""
    is_file = False
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrs["href"])
            is_file = ":" not in target and not target.startswith("#")
        if not (is_file and token.type in ("link_open", "link_close")):
            yield token
