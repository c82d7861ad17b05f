"""Many runs of one template: a sweep over factors, the store of finished runs, workers.

A run is identified by the hash of its resolved scenario and the results version, so that a store
knows which are done.
"""

from longhaul.campaign.execute import Outcome, execute
from longhaul.campaign.store import Store
from longhaul.campaign.sweep import Run, Setting, Sweep
from longhaul.campaign.template import merge_parts
from longhaul.campaign.written import as_toml

__all__ = ["Outcome", "Run", "Setting", "Store", "Sweep", "as_toml", "execute", "merge_parts"]
