"""Encoding of numbers for the page: a blob for each column, deflated, in base64."""

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

# Largest 16-bit code of a value; the next code marks a missing value.
STEPS = 65_534
MISSING = 65_535
TYPES = {"f64": "<f8", "f32": "<f4", "u16": "<u2", "u8": "u1"}
# A blob is stored undeflated, which is read faster, if deflating leaves more than this fraction.
WORTHWHILE = 0.85
# Maximum number of rows for exact columns; longer columns are in single precision.
EXACT_ROWS = 20_000


class Blobs:
    """Compressed arrays of numbers in a page (blobs), numbered in the order of their addition."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, values: np.ndarray) -> dict[str, Any]:
        """Add an array as a blob; return the blob's number, and `raw` if it is not compressed."""
        little = values.astype(values.dtype.newbyteorder("<"), copy=False)
        content = np.ascontiguousarray(little).tobytes()
        deflated = zlib.compress(content, 6)
        raw = len(deflated) > WORTHWHILE * len(content)
        self.texts.append(base64.b64encode(content if raw else deflated).decode("ascii"))
        return {"blob": len(self.texts) - 1} | ({"raw": True} if raw else {})

    def read(self, stored: Mapping[str, Any]) -> np.ndarray:
        """Return the numbers in a blob, decoded as in the page; `stored` describes the blob."""
        content = base64.b64decode(self.texts[stored["blob"]])
        content = content if stored.get("raw") else zlib.decompress(content)
        raw = np.frombuffer(content, TYPES[stored["encoding"]])
        if "scale" not in stored:
            return raw
        values = stored["offset"] + stored["scale"] * raw.astype(np.float64)
        known: np.ndarray = np.where(raw == MISSING, np.nan, values)
        return known

    def numbers(self, values: ArrayLike, *, exact: bool = False) -> dict[str, Any]:
        """Store a column of numbers, and return its description for the page.

        Missing numbers are NaN. Long columns are in single precision unless `exact` is true.
        """
        double = np.asarray(values, np.float64)
        if exact or len(double) <= EXACT_ROWS:
            return {"encoding": "f64"} | self.add(double)
        return {"encoding": "f32"} | self.add(double.astype(np.float32))

    def codes(self, codes: ArrayLike) -> dict[str, Any]:
        """Store a column of category codes, in one or two bytes each; return its description."""
        given = np.asarray(codes)
        if given.max(initial=0) < 256:
            return {"encoding": "u8"} | self.add(given.astype(np.uint8))
        return {"encoding": "u16"} | self.add(given.astype(np.uint16))

    def samples(self, values: np.ndarray) -> dict[str, Any]:
        """Store curves' samples in steps of 1/65,534 of the range of all curves.

        Integers are stored exactly if their range is at most 65,534. Infinite samples count as
        missing. Return the description of the samples for the page.
        """
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        whole = bool(np.all(known == np.round(known)))
        scale = 1.0 if whole and high - low <= STEPS else (high - low) / STEPS or 1.0
        steps = np.full(values.shape, MISSING, np.uint16)
        finite = np.isfinite(values)
        steps[finite] = np.round((values[finite] - low) / scale).astype(np.uint16)
        return {"encoding": "u16", "offset": low, "scale": scale} | self.add(steps)
