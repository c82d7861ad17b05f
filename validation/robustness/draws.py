"""Random numbers for generated scenarios, and conversion of times to text."""

import math
import random
from dataclasses import dataclass


@dataclass
class Draw:
    """Random draws for one scenario, with its link rate, delay and duration."""

    random: random.Random
    rate_bps: float
    delay_s: float
    duration_s: float

    def log(self, low: float, high: float) -> float:
        """Draw a number between `low` and `high` whose logarithm is uniform."""
        return math.exp(self.random.uniform(math.log(low), math.log(high)))


def time_text(seconds: float) -> str:
    """Return a time as text for a scenario, exact to the picosecond."""
    return f"{round(seconds * 1e12)} ps"
