"""The figures of a study, and the check of a study before it runs."""

from collections.abc import Sequence

from longhaul.campaign.responses import check as check_responses
from longhaul.studies.claims import Claim
from longhaul.studies.errors import StudyError
from longhaul.studies.experiments import SCALES
from longhaul.studies.figures import Figure
from longhaul.studies.figures import file as figure_file
from longhaul.studies.questions.words import names
from longhaul.studies.study import Study


def figures(study: Study) -> Sequence[Figure]:
    """Return the figures in a study's `figures.toml`, then those that it defines in Python."""
    every: list[Figure] = []
    if (file := study.path / figure_file.NAME).is_file():
        every += figure_file.read(file, study.experiments)
    if study.has("figures"):
        every += study.required("figures", "FIGURES")
    return every


def check(study: Study) -> None:
    """Raise an error if a study lacks a file, or has an invalid claim, figure or response."""
    study.check()
    for claim in study.claims:
        _check_question(study, claim)
    figures(study)
    if study.head.responses:
        _check_responses(study)


def _check_question(study: Study, claim: Claim) -> None:
    """Raise an error if a claim's experiments are unknown, or its `key=value` words do not fit."""
    question = claim.question
    try:
        study.chosen([*claim.experiments, *names(question.of)])
        axes = study.experiments[claim.experiments[0]].axes
        question.check(study.experiments)
        if question.whole_axis is not None and question.whole_axis not in axes:
            raise ValueError(f"whole={question.whole}: expected an axis, of {', '.join(axes)}")
    except (StudyError, ValueError) as error:
        raise StudyError(f"{study.path}: claim {claim.id}: {error}") from None


def _check_responses(study: Study) -> None:
    """Raise an error if, at a scale, the first run of an experiment lacks a declared response.

    Responses that are Python functions are not checked.
    """
    places = [response.place for response in study.head.responses if response.place]
    for experiment in study.experiments.values():
        for scale in SCALES:
            run = next(iter(experiment.sweep(scale, 1).runs()), None)
            if run is not None and (wrong := check_responses(places, [run.resolved])):
                raise StudyError(f"{experiment.folder}: {experiment.name}: {wrong[1]}")
