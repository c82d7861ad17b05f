"""Estimate of a run's cost, so that the longest runs can start first."""

from longhaul.campaign.sweep import Run
from longhaul.results import kinds


def expected_packets(run: Run) -> float:
    """Return the estimated number of data packets of a run.

    Runs with more packets start earlier, and count more in the progress of a campaign.
    """
    return kinds.of(run.scenario).expected_packets(run)
