"""Numbers as the page holds them: deflated, in base64, each column a blob of its own."""

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

# Steps that 16 bits hold; one more stands for what is missing.
STEPS = 65_534
MISSING = 65_535
# Columns of a table are exact up to here; of more rows they are single-precision.
EXACT_ROWS = 20_000


class Blobs:
    """Blobs by number, in the order in which they are added."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, values: np.ndarray) -> int:
        """Add an array; returns its number."""
        little = values.astype(values.dtype.newbyteorder("<"), copy=False)
        deflated = zlib.compress(np.ascontiguousarray(little).tobytes(), 6)
        self.texts.append(base64.b64encode(deflated).decode("ascii"))
        return len(self.texts) - 1

    def numbers(self, values: ArrayLike) -> dict[str, Any]:
        """Numbers of a column; missing ones are NaN."""
        exact = np.asarray(values, np.float64)
        if len(exact) <= EXACT_ROWS:
            return {"blob": self.add(exact), "encoding": "f64"}
        return {"blob": self.add(exact.astype(np.float32)), "encoding": "f32"}

    def codes(self, codes: ArrayLike) -> dict[str, Any]:
        """Numbers of categories."""
        given = np.asarray(codes)
        if given.max(initial=0) < 256:
            return {"blob": self.add(given.astype(np.uint8)), "encoding": "u8"}
        return {"blob": self.add(given.astype(np.uint16)), "encoding": "u16"}

    def samples(self, values: np.ndarray) -> dict[str, Any]:
        """Many numbers for curves: counts exactly, others in steps of a 65,534th of their range."""
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        whole = bool(np.all(known == np.round(known)))
        scale = 1.0 if whole and high - low <= STEPS else (high - low) / STEPS or 1.0
        steps = np.full(values.shape, MISSING, np.uint16)
        finite = np.isfinite(values)
        steps[finite] = np.round((values[finite] - low) / scale).astype(np.uint16)
        return {"blob": self.add(steps), "encoding": "u16", "offset": low, "scale": scale}
