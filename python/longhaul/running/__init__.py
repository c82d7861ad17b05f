"""From a scenario to a run directory: loading, running, progress, calibration."""
