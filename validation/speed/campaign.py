"""Cost of the driver of a campaign: `python -m validation.speed.campaign [RUNS]`.

The campaign has ten thousand runs (or RUNS) of about 0.1 s on one core, and two workers. The
command prints the processor time of the driver and of its workers, and the driver's peak memory.
"""

import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from longhaul.campaign.dataset import collect
from longhaul.campaign.execute import execute
from longhaul.campaign.file import read_campaign
from longhaul.campaign.pool import LocalWorkers
from longhaul.campaign.store import Store

CAMPAIGN = """
replications = {replications}
responses    = ["goodput_bps", "rtt_mean_s"]

[factors]
rate  = {{ path = "topology.dumbbell.bottleneck.rate", levels = {rates} }}
delay = {{ path = "topology.dumbbell.bottleneck.delay", levels = {delays} }}

[scenario]
duration = "180 s"
[scenario.topology.dumbbell.bottleneck]
queue = {{ kind = "droptail", limit = "1 BDP" }}
[[scenario.flows]]
label = "flow"
count = 2
start = {{ uniform = ["0 s", "1 s"] }}
"""
WORKERS = 2


def measure(runs: int) -> None:
    """Run a campaign of `runs` runs in a temporary directory, and print its cost."""
    with TemporaryDirectory() as scratch:
        file = Path(scratch) / "many.toml"
        rates = [f"{rate} Mbps" for rate in range(96, 106)]
        delays = [f"{delay} ms" for delay in range(5, 15)]
        text = CAMPAIGN.format(replications=-(-runs // 100), rates=rates, delays=delays)
        file.write_text(text, encoding="utf-8")
        began, cpu = time.monotonic(), time.process_time()
        campaign = read_campaign(file)
        store = Store(Path(scratch) / "store", campaign.reducer.variant)
        outcome = execute(
            campaign.runs()[:runs], store, workers=LocalWorkers(WORKERS), reducer=campaign.reducer
        )
        collect(campaign, store)
        own = time.process_time() - cpu
        wall = time.monotonic() - began
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = children.ru_utime + children.ru_stime
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{outcome.finished} runs in {wall:.0f} s; workers {theirs:.1f} s of processor time, "
        f"{1e3 * theirs / outcome.finished:.0f} ms a run; driver {own:.1f} s, "
        f"{1e3 * own / outcome.finished:.2f} ms a run, {100 * own / (own + theirs):.1f} % of all; "
        f"peak memory of the driver {memory:.0f} MiB"
    )


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
