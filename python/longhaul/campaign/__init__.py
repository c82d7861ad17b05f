"""Many runs from one template: what varies, what has been done, and who does the rest.

A sweep lays values over a template and gives runs. Runs are identified by the hash of their
resolved scenario and by the results version, so that a store knows which are done, whoever asked
for them.
"""

from longhaul.campaign.execute import Outcome, execute
from longhaul.campaign.store import Store
from longhaul.campaign.sweep import Run, Setting, Sweep
from longhaul.campaign.template import lay_together
from longhaul.campaign.written import as_toml

__all__ = ["Outcome", "Run", "Setting", "Store", "Sweep", "as_toml", "execute", "lay_together"]
