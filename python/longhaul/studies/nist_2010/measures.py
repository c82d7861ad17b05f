"""What claims measure: none are made yet."""

from collections.abc import Mapping

from longhaul.studies.ledger import Measure

MEASURES: Mapping[str, Measure] = {}
