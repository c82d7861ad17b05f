"""Campaigns: many runs of a scenario, in which factors vary; results are kept in a store.

A run is identified by the hash of its resolved scenario and by the results version. The store finds
finished runs by both.
"""

from longhaul.campaign.execute import Outcome, execute
from longhaul.campaign.store import Store
from longhaul.campaign.sweep import Run, Setting, Sweep
from longhaul.campaign.template import merge_parts
from longhaul.campaign.written import as_toml

__all__ = ["Outcome", "Run", "Setting", "Store", "Sweep", "as_toml", "execute", "merge_parts"]
