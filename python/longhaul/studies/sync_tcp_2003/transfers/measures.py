"""What claims about long transfers measure."""

from longhaul.studies.measures import Measure

TRANSFERS: dict[str, Measure] = {}
