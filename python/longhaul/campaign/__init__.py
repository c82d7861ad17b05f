"""Campaigns of many runs of one template: sweeps over factors, stores of finished runs, workers.

A run is identified by the hash of its resolved scenario and the results version, by which a store
recognises finished runs.
"""

from longhaul.campaign.execute import Outcome, execute
from longhaul.campaign.store import Store
from longhaul.campaign.sweep import Run, Setting, Sweep
from longhaul.campaign.template import merge_parts
from longhaul.campaign.written import as_toml

__all__ = ["Outcome", "Run", "Setting", "Store", "Sweep", "as_toml", "execute", "merge_parts"]
