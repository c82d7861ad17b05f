"""Expected work of a run, so that the longest runs begin first."""

from longhaul.campaign.sweep import Run
from longhaul.results import kinds


def expected_packets(run: Run) -> float:
    """Return data packets that a run may take.

    This estimate orders runs and weights their progress; measurements correct it.
    """
    return kinds.of(run.scenario).expected_packets(run)
