"""Which words of `where` go together: claims with others are refused before anything runs."""

from collections.abc import Collection, Mapping

from longhaul.studies import arithmetic
from longhaul.studies.data import REPLICATION
from longhaul.studies.declared.comparison import COMPARED
from longhaul.studies.declared.measures import THEN
from longhaul.studies.declared.words import (
    BY,
    METRIC,
    RUNS,
    SELECTING,
    SEVERAL,
    SHAPING,
    WHEN,
    Words,
    split,
)
from longhaul.studies.selection import REST


def check(where: Words, axes: Mapping[str, Collection[str]]) -> None:
    """Refuse words that are neither known nor axes of the experiments that they are of."""
    chosen, compared = split(where)
    _check_shape(chosen, compared)
    for words in (chosen, *({**chosen, **other} for other in compared.values())):
        if missing := [word for word in SELECTING if word not in words]:
            raise ValueError(f"where: missing {', '.join(missing)}")
        for part in str(words[METRIC]).split(SEVERAL):
            arithmetic.metrics(part)
        experiments = str(words["of"]).split(",")
        for experiment in experiments:
            if experiment not in axes:
                raise ValueError(f"where: there is no experiment {experiment}")
        known = {axis for experiment in experiments for axis in axes[experiment]}
        if "runs" in words:
            known.add(REPLICATION)
        shapes = [
            words.get("along", ""),
            str(words.get("whole", "")).replace(REST, ""),
            *(word for word in str(words.get("each", "")).split(",") if word != METRIC),
        ]
        levels = [
            word for word, level in words.items() if level != "" and not word.startswith(WHEN)
        ]
        for word in (*levels, *filter(None, shapes)):
            if word not in (*SELECTING, *SHAPING) and word not in known:
                raise ValueError(
                    f"where: {', '.join(experiments)} has no axis `{word}`; "
                    f"axes: {', '.join(sorted(known))}; other words: "
                    f"{', '.join((*SELECTING, *SHAPING))}, metrics after {WHEN}, "
                    f"and all of these after less., over., with. or against."
                )


def _check_shape(chosen: Words, compared: Mapping[str, Words]) -> None:
    """Refuse words that do not go together, and values that words cannot have."""
    for word, only in (("by", BY), ("runs", RUNS)):
        if chosen.get(word, only) != only:
            raise ValueError(f"where: {word}: expected {only}, found `{chosen[word]}`")
    sides = [side for side in COMPARED if side in compared]
    if "by" in chosen and (len(sides) != 1 or METRIC in compared[sides[0]]):
        raise ValueError("where: by needs either less. or over., of the same metric")
    metrics = str(chosen.get(METRIC)).split(SEVERAL)
    one_each = len(metrics) == 1 or METRIC in str(chosen.get("each", "")).split(SEVERAL)
    if "by" in chosen and not (one_each and all(map(arithmetic.is_metric, metrics))):
        raise ValueError("where: by needs one metric, or each=metric, and no arithmetic")
    then = str(chosen.get("then", "largest"))
    if then not in THEN:
        raise ValueError(f"where: then: expected one of {', '.join(THEN)}, found `{then}`")
    if (then in ("count", "share")) != any(bound in chosen for bound in ("above", "below")):
        raise ValueError("where: then=count and then=share need above= or below=, others have none")
    if "then" in chosen and "each" not in chosen:
        raise ValueError("where: then needs each")
    if "order" in chosen and (SEVERAL in str(chosen.get("each", SEVERAL)) or "then" not in chosen):
        raise ValueError("where: order needs each, of one axis, and then")
    if "with" in compared and "along" in chosen:
        raise ValueError("where: along and with. do not go together")
