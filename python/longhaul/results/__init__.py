"""Contents of a run directory: its tables, its `run.json`, and values derived from both."""

from longhaul.results.files import ResultsError
from longhaul.results.run import Results, open_run, open_runs, with_distinct_names

__all__ = ["Results", "ResultsError", "open_run", "open_runs", "with_distinct_names"]
