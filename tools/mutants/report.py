"""Report of mutation testing: outcomes by group of files, and changes that no test detects."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tools.mutants.mutation import Mutation
from tools.mutants.rooms import Room
from validation.pages import table

KILLED = "killed"
SURVIVED = "survived"
NOT_REACHED = "not reached"
EQUIVALENT = "equivalent"
NOT_COMPILED = "does not compile"
_OUTCOMES = (KILLED, SURVIVED, NOT_REACHED, EQUIVALENT, NOT_COMPILED)

Outcomes = dict[int, str]
"""Outcome of each change, by the number of the change."""


def report(
    rooms: Sequence[Room], drawn: Sequence[Mutation], outcomes: Mapping[int, str]
) -> Iterator[str]:
    """Yield the lines of the report in Markdown."""
    yield ""
    groups = {room.name: {room.name} for room in rooms}
    for language in sorted({room.language for room in rooms}):
        groups[f"all {language}"] = {room.name for room in rooms if room.language == language}
    rows = (
        _row(group, [outcomes[change.number] for change in drawn if change.room in names])
        for group, names in groups.items()
    )
    yield from table(["room", *_OUTCOMES, "detected"], rows)
    yield "\nNo test detects these changes:"
    for mutation in drawn:
        if outcomes[mutation.number] in (SURVIVED, NOT_REACHED):
            yield f"- {mutation.room}, {outcomes[mutation.number]}: {mutation}"


def _row(name: str, outcomes: Sequence[str]) -> list[object]:
    counts = Counter(outcomes)
    judged = counts[KILLED] + counts[SURVIVED] + counts[NOT_REACHED]
    share = f"{counts[KILLED] / judged:.0%}" if judged else ""
    return [name, *(counts[outcome] for outcome in _OUTCOMES), share]
