"""The judgement of one claim: its value, its interval and its verdict."""

from dataclasses import dataclass
from typing import Any

from longhaul.analysis.judging import Interval
from longhaul.studies.cells import Cell
from longhaul.studies.claims import Claim
from longhaul.studies.families import FamilyJudgement
from longhaul.studies.partial import CoveredLevels


@dataclass(frozen=True)
class Judgement:
    """A claim with its measured value, the interval of this value, and the verdict."""

    claim: Claim
    measured: float | None
    interval: Interval | None
    verdict: str
    scale: str
    replications: int
    """Smallest number of replications of any cell in the claim's experiments; 0 without runs.

    It is smaller if the claim reads time series that only some replications have.
    """
    reason: str = ""
    """Reason why the value is missing or the verdict is undecided; may be empty.

    If needed runs are missing, it also states how many runs or levels the verdict is based on.
    """
    shape: str = ""
    """Distribution assumed for the values of runs, if `interval` predicts one more run.

    It is empty for other intervals, such as that of a median.
    """
    needs: str = ""
    """Description of the runs that the claim needs; empty for theory."""
    part: CoveredLevels | None = None
    """Levels with all needed runs, if the claim is about all levels of an axis.

    None for other claims.
    """
    so_far: str = ""
    """Verdict from the levels that were run, if the verdict on all levels is undecided.

    It is empty otherwise, or if these levels allow no conclusion.
    """
    there: frozenset[Cell] = frozenset()
    """Cells (combinations of levels) that the claim needs and that were run."""
    is_partial: bool = False
    """True if the claim was judged, but runs that are missing may change the verdict."""
    family: FamilyJudgement | None = None
    """Judgement of the family of numbers to which the claim belongs; None if there is none."""

    @property
    def runs(self) -> str:
        """Number of replications (`one run` if it is 1), as text; empty without runs."""
        return {0: "", 1: "one run"}.get(self.replications, f"{self.replications} replications")

    @property
    def interval_of(self) -> str | None:
        """Name of the statistic that the interval is for; None if there is no interval."""
        if self.interval is None:
            return None
        if self.shape:
            return f"one more run, {self.shape}"
        of_runs = self.claim.question.words.get("runs") == "each"
        return self.claim.measure.replace("_", " ") if of_runs else "median"

    @property
    def outcome(self) -> str:
        """Verdict with its reason, as text."""
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict

    def as_json(self) -> dict[str, Any]:
        """Return the values that `longhaul study claims --json` prints."""
        return {
            "id": self.claim.id,
            "experiment": self.claim.experiments[0],
            "statement": self.claim.statement,
            "derived": self.claim.derived,
            "set_up": self.claim.is_set_up,
            "hypothesis": self.claim.is_hypothesis,
            "sentence": self.claim.sentence or None,
            "narrower": self.claim.narrower or None,
            "expected": self.claim.expected_as_json(),
            "measured": self.measured,
            "interval": None if self.interval is None else list(self.interval),
            "interval_of": self.interval_of,
            "source_runs": self.claim.runs or None,
            "verdict": self.verdict,
            "reason": self.reason or None,
            "scale": self.scale,
            "replications": self.replications,
            "needs": self.needs or None,
            "so_far": self.so_far or None,
            "on": None if self.part is None else {
                "axis": self.part.axis, "levels": list(self.part.there), "of": self.part.of,
            },
            "family": None if self.family is None else self.family.as_json(),
        }  # fmt: skip
