"""Random numbers for scenarios, and their text form."""

import math
import random
from dataclasses import dataclass


@dataclass
class Draw:
    """Draws of one scenario, with the parameters of its scale."""

    random: random.Random
    rate_bps: float
    delay_s: float
    duration_s: float

    def log(self, low: float, high: float) -> float:
        """Draw a log-uniform number."""
        return math.exp(self.random.uniform(math.log(low), math.log(high)))


def time_text(seconds: float) -> str:
    """Return a time as text, exact to the picosecond."""
    return f"{round(seconds * 1e12)} ps"
