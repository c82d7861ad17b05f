"""What claims measure beside what they declare."""

import numpy as np

from longhaul.studies.data import Data
from longhaul.studies.measures import GENERAL, Measures
from longhaul.studies.selection import Word


def ninth_decile(data: Data, *, of: str, metric: str, **where: Word) -> float:
    """What nine in ten runs do not exceed."""
    return float(np.percentile(list(data.runs(metric, of, **where).values()), 90))


MEASURES = Measures(GENERAL | {"ninth_decile": ninth_decile})
