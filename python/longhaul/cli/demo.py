"""The command `demo`: a demonstration that compares HighSpeed TCP with standard TCP."""

from pathlib import Path
from typing import Annotated

from longhaul.cli.printing import stdout
from longhaul.cli.shared import Overwrite, out_option
from longhaul.comparison import compare as compare_runs
from longhaul.files.endings import check_directory
from longhaul.guide.demo import demo as run_demo


def demo(
    out: Annotated[Path, out_option("Directory for runs and report.")] = Path("demo-report"),
    overwrite: Overwrite = False,
) -> None:
    """Run HighSpeed TCP against standard TCP at 1 Gbit/s and 100 ms, with RED and drop-tail.

    The command prints one table and writes an HTML report. It takes less than a minute.
    """
    check_directory(out)
    runs, page = run_demo(out, overwrite=overwrite)
    console = stdout()
    console.print(compare_runs(runs))
    console.print(f"Report: {page}")
