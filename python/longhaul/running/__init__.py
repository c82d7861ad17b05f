"""Execution of scenarios: loading, running, progress, calibration."""
