"""The parts of a study that are declared, or else in Python: what claims measure, and figures."""

from collections.abc import Mapping, Sequence
from inspect import signature

from longhaul.campaign.responses import check as check_responses
from longhaul.studies import declared
from longhaul.studies.claims import Claim
from longhaul.studies.declared import Declared
from longhaul.studies.experiments import SCALES
from longhaul.studies.figures import Figure
from longhaul.studies.figures import file as figure_file
from longhaul.studies.measures import GENERAL, Measure
from longhaul.studies.selection import REST
from longhaul.studies.study import Study, StudyError, unknown

# The word of a statement about all levels of an axis.
WHOLE = "whole"


def measures(study: Study) -> Mapping[str, Measure]:
    """Those of any study, and the study's own."""
    if not study.has("measures"):
        return GENERAL
    own: Mapping[str, Measure] = study.required("measures", "MEASURES")
    return own


def figures(study: Study) -> Sequence[Figure]:
    """Those that are declared, and those in Python."""
    every: list[Figure] = []
    if (file := study.path / figure_file.NAME).is_file():
        every += figure_file.read(file, study.experiments)
    if study.has("figures"):
        every += study.required("figures", "FIGURES")
    return every


def check(study: Study) -> None:
    """Refuse a study that lacks a part, or names what does not exist, before anything runs."""
    study.check()
    known = measures(study)
    for claim in study.claims:
        if claim.measure not in known:
            raise _unknown_measure(study, claim.id, claim.measure, known)
        measure = known[claim.measure]
        if isinstance(measure, Declared):
            _check_words(study, claim)
        else:
            _check_arguments(study, claim, measure)
        _check_whole(study, claim)
    figures(study)
    if study.head.responses:
        _check_responses(study)


def measure(study: Study, claim: str, name: str) -> Measure:
    """The measure that a claim names."""
    known = measures(study)
    if name not in known:
        raise _unknown_measure(study, claim, name, known)
    return known[name]


def _unknown_measure(
    study: Study, claim: str, name: str, known: Mapping[str, Measure]
) -> StudyError:
    return StudyError(f"{study.path}: claim {claim}: {unknown('measure', name, list(known))}")


def _check_words(study: Study, claim: Claim) -> None:
    axes = {
        name: {*experiment.axes, *experiment.columns}
        for name, experiment in study.experiments.items()
    }
    try:
        declared.check(claim.where, axes)
    except ValueError as error:
        raise StudyError(f"{study.path}: claim {claim.id}: {error}") from None


def _check_arguments(study: Study, claim: Claim, measure: Measure) -> None:
    """Refuse words that a measure in Python does not take, and those that it lacks."""
    words = {word: level for word, level in claim.where.items() if word != WHOLE}
    if (axis := claim.where.get(WHOLE, REST)) != REST:
        words.setdefault(str(axis), "")  # its levels that are there
    try:
        signature(measure).bind(None, **words)
    except TypeError as error:
        raise StudyError(f"{study.path}: claim {claim.id}: {claim.measure}: {error}") from None


def _check_whole(study: Study, claim: Claim) -> None:
    """Refuse a statement about all levels of what is no axis of its first experiment."""
    axis = claim.where.get(WHOLE, REST)
    axes = study.experiments[claim.experiments[0]].axes
    if axis != REST and axis not in axes:
        message = f"claim {claim.id}: whole={axis}: expected an axis, of {', '.join(axes)}"
        raise StudyError(f"{study.path}: {message}")


def _check_responses(study: Study) -> None:
    """Refuse a response that no run of any experiment can have."""
    places = [response.place for response in study.head.responses if response.place]
    for experiment in study.experiments.values():
        for scale in SCALES:
            run = next(iter(experiment.sweep(scale, 1).runs()), None)
            if run is not None and (wrong := check_responses(places, [run.resolved])):
                raise StudyError(f"{experiment.folder}: {experiment.name}: {wrong[1]}")
