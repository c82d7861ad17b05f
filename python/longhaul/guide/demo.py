"""The demonstration of the command `demo`."""

from pathlib import Path

from longhaul._engine import OutputError
from longhaul.guide import examples
from longhaul.reports import report
from longhaul.results import Results
from longhaul.running.execution import run_loaded

SCENARIO = "hstcp_beside_sack"
QUEUES: dict[str, tuple[str, ...]] = {
    "RED+ECN": (),
    "DropTail": ('topology.dumbbell.bottleneck.queue={ kind = "droptail", limit = "1 BDP" }',),
}


def demo(out: Path, *, overwrite: bool = False) -> tuple[list[Results], Path]:
    """Run the example scenario with RED and drop-tail; return the runs and the report's path."""
    page = out / "index.html"
    there = [path for path in (page, *(out / name for name in QUEUES)) if path.exists()]
    if there and not overwrite:
        raise OutputError(f"{there[0]} already exists; choose another --out, or add --overwrite")
    runs = []
    for name, overrides in QUEUES.items():
        scenario = examples.load(SCENARIO, overrides)
        runs.append(run_loaded(scenario, out=out / name, progress=True, overwrite=overwrite))
    return runs, report(
        runs, page, title="HighSpeed TCP beside standard TCP, 1 Gbit/s, 100 ms", overwrite=overwrite
    )
