"""The command `demo`: a demonstration that compares HighSpeed TCP with standard TCP."""

from pathlib import Path
from typing import Annotated

from longhaul._engine import OutputError
from longhaul.cli.printing import stdout
from longhaul.cli.shared import Overwrite, out_option
from longhaul.comparison import compare as compare_runs
from longhaul.files.endings import check_directory
from longhaul.guide import examples
from longhaul.reports import report
from longhaul.running.execution import run_loaded

SCENARIO = "hstcp_beside_sack"
QUEUES: dict[str, tuple[str, ...]] = {
    "RED+ECN": (),
    "DropTail": ('topology.dumbbell.bottleneck.queue={ kind = "droptail", limit = "1 BDP" }',),
}


def demo(
    out: Annotated[Path, out_option("Directory for runs and report.")] = Path("demo-report"),
    overwrite: Overwrite = False,
) -> None:
    """Run HighSpeed TCP against standard TCP at 1 Gbit/s and 100 ms, with RED and drop-tail.

    The command prints one table and writes an HTML report. It takes less than a minute.
    """
    check_directory(out)
    page = out / "index.html"
    existing = [path for path in (page, *(out / name for name in QUEUES)) if path.exists()]
    if existing and not overwrite:
        raise OutputError(f"{existing[0]} already exists; choose another --out, or add --overwrite")
    runs = []
    for name, overrides in QUEUES.items():
        scenario = examples.load(SCENARIO, overrides)
        runs.append(run_loaded(scenario, out=out / name, progress=True, overwrite=overwrite))
    title = "HighSpeed TCP beside standard TCP, 1 Gbit/s, 100 ms"
    report(runs, page, title=title, overwrite=overwrite)
    console = stdout()
    console.print(compare_runs(runs))
    console.print(f"Report: {page}")
