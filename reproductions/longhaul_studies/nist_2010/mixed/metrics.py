"""Metrics that only chapters 8 and 9 of NIST's study have (tables 8-19 and 8-20).

A name such as `mean_alternate_16` ends with the role of flows, `alternate` or `standard`, and the
flow group. `flows_per_h_...` counts completed flows per hour. `mean_...`, `deviation_...` and
`p90_...` are statistics of goodput in packets per second, averaged over batches of flows;
`pooled_deviation_...`, `least_...` and `largest_...` are statistics of all flows.
"""

from typing import Any

from longhaul.campaign.store import Kept

Row = dict[str, Any]
# Experiments cut to minutes, whose few flows allow only means.
CUT = ("N8L-CUT", "N8H-CUT", "N9-CUT", "N8L-TODAY")


def of_groups(kept: Kept, experiment: str) -> Row:
    """Return the metrics of the network and of flow groups that only chapters 8 and 9 have.

    The result is empty for a run without flow groups.
    """
    if "flow_groups" not in kept:
        return {}
    (means,) = kept["macroscopic"]
    hours = kept["run"]["measured_s"] / 3600.0
    row: Row = {"data_packets_per_h": kept["run"]["data_packets"] / hours}
    row |= {
        name if name.endswith("_max") else f"{name}_mean": value for name, value in means.items()
    }
    row |= {f"{file.replace(' ', '_')}_share": share for file, share in kept["file_shares"].items()}
    for group in kept["flow_groups"]:
        end = f"{group['role']}_{group['group']}"
        row |= {
            f"{name.removesuffix('_pps')}_{end}": value
            for name, value in group.items()
            if name.endswith("_pps") and (name == "mean_pps" or experiment not in CUT)
        }
        row[f"flows_per_h_{end}"] = group["flows"] / hours
    row["completed_per_h"] = sum(group["flows"] for group in kept["flow_groups"]) / hours
    return row
