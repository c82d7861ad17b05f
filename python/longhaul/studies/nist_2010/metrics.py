"""The study's figures of one run: of the whole run, and means over its periods.

Names of the latter end in the period: `active_flows_TP1`. Long-lived flows have a throughput each,
`L1_pps_TP1`, and flow classes, too: `DD_pps_TP1`.
"""

from collections.abc import Mapping
from typing import Any

from longhaul.campaign import Run
from longhaul.campaign.store import Kept

Row = dict[str, Any]

OF_THE_RUN = ("delivered_pkts", "events", "peak_memory_bytes")
OF_PERIODS = (
    "active_flows", "connecting_flows", "initial_slow_start_flows", "normal_mode_flows",
    "above_threshold_flows", "completed_per_s", "failed_flows", "out_pps", "loss_rate",
    "retransmission_rate", "srtt_mean_s", "cwnd_mean_pkts",
)  # fmt: skip


def metrics(kept: Kept, run: Run) -> Row:
    """The figures of a run."""
    del run
    totals = kept["totals"]
    row: Row = {
        f"{name}_flows": sum(of_class[f"{name}_flows"] for of_class in totals)
        for name in ("connected", "completed", "failed")
    }
    for period in kept["network"]:
        row |= {f"{name}_{period['period']}": period[name] for name in OF_PERIODS}
    row |= _throughput(kept["classes"], "class") | _throughput(kept["long_lived"], "flow")
    return row | {name: kept["run"][name] for name in OF_THE_RUN}


def _throughput(rows: list[Mapping[str, Any]], key: str) -> Row:
    return {f"{row[key]}_pps_{row['period']}": row["throughput_pps"] for row in rows}
