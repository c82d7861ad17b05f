"""Estimators of the Hurst parameter of a stationary series.

H = 0.5 means short-range dependence or none; the closer H is to 1, the more slowly correlations
decay. Each estimator fits a line to the logarithm of a statistic over the logarithm of scale. Only
the wavelet estimate has an interval that is valid under long-range dependence.

Taqqu, Teverovsky and Willinger, "Estimators for long-range dependence: an empirical study",
Fractals 3(4), 1995; Veitch and Abry, "A wavelet-based joint estimator of the parameters of
long-range dependence", IEEE Transactions on Information Theory 45(3), 1999.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from longhaul.libraries import special

# Minimum number of blocks at the largest scale, and ratio of successive scales.
MIN_BLOCKS, STEP = 50, 1.5
# Lowest octave of the fit; sampling biases lower ones (Veitch and Abry, section IV).
MIN_OCTAVE = 4
# Minimum number of samples of a series.
MIN_SAMPLES = 256
# Daubechies' wavelet with two vanishing moments, which linear trends do not disturb.
_ROOT = np.sqrt(3.0)
LOW_PASS = np.array([1 + _ROOT, 3 + _ROOT, 3 - _ROOT, 1 - _ROOT]) / (4 * np.sqrt(2))
HIGH_PASS = LOW_PASS[::-1] * np.array([1, -1, 1, -1])


@dataclass(frozen=True)
class Hurst:
    """An estimate of the Hurst parameter H, with the points and the line fitted to them."""

    method: str
    value: float
    low: float | None
    """Lower end of the 95 % interval; None if the method has no interval."""
    high: float | None
    """Upper end of the 95 % interval; None if the method has no interval."""
    scales: np.ndarray
    """Scales at which the statistic was computed, in samples."""
    statistics: np.ndarray
    slope: float
    intercept: float
    """Intercept of the fitted line; both axes have decimal logarithms."""

    def line(self) -> np.ndarray:
        """Values of the fitted line at the scales."""
        return np.asarray(10.0 ** (self.intercept + self.slope * np.log10(self.scales)))


def aggregated_variance(values: ArrayLike, min_scale: int = 1) -> Hurst:
    """Estimate H from the variance of block means, which is proportional to m^(2H - 2).

    m is the length of a block in samples, at least `min_scale`.

    The estimate is too low, with 2^15 samples by 0.02 at H = 0.84 and by 0.03 at 0.9, because the
    sample mean replaces the true mean.
    """
    series = _checked(values)
    scales = _scales(len(series), min_scale)
    variances = np.array([_blocks(series, scale).mean(axis=1).var() for scale in scales])
    slope, intercept = _line(scales, variances)
    value = 1.0 + slope / 2.0
    return Hurst("aggregated variance", value, None, None, scales, variances, slope, intercept)


def rescaled_range(values: ArrayLike, min_scale: int = 16) -> Hurst:
    """Estimate H from the rescaled range R/S of blocks, which is proportional to length^H.

    Short blocks bias the estimate: with 2^15 samples by 0.05 at H = 0.5, and by -0.03 at H = 0.84.
    """
    series = _checked(values)
    scales = _scales(len(series), min_scale)
    statistics = np.array([_mean_rescaled_range(_blocks(series, scale)) for scale in scales])
    slope, intercept = _line(scales, statistics)
    return Hurst("R/S", slope, None, None, scales, statistics, slope, intercept)


def wavelet(values: ArrayLike, min_octave: int = MIN_OCTAVE) -> Hurst:
    """Estimate H from the energy of wavelet coefficients.

    The binary logarithm of the energy grows by 2H - 1 per octave; a line is fitted to it by
    weighted least squares. Coefficients are nearly uncorrelated; the interval assumes that they are
    independent and Gaussian.
    """
    approximation = _checked(values) - np.mean(np.asarray(values, float))
    octaves, counts, energies = [], [], []
    octave = 0
    while len(approximation) >= 2 * len(LOW_PASS):
        octave += 1
        # Coefficients at the ends would combine the end of the series with its beginning.
        detail = np.convolve(approximation, HIGH_PASS[::-1], "valid")[::2]
        approximation = np.convolve(approximation, LOW_PASS[::-1], "valid")[::2]
        if octave >= min_octave and len(detail) >= 4:
            octaves.append(octave)
            counts.append(len(detail))
            energies.append(float(np.mean(detail**2)))
    if len(octaves) < 3:
        raise ValueError("expected a series with at least three octaves of wavelet coefficients")
    scale, half = np.array(octaves, float), np.array(counts) / 2.0
    # The logarithm of a mean of squares is too small on average: Veitch and Abry, equation (5).
    bias = special.psi(half) / np.log(2.0) - np.log2(half)
    logarithms = np.log2(energies) - bias
    weights = np.log(2.0) ** 2 / special.zeta(2, half)
    centre = (weights * scale).sum() / weights.sum()
    spread = (weights * (scale - centre) ** 2).sum()
    slope = float((weights * (scale - centre) * logarithms).sum() / spread)
    intercept = float((weights * (logarithms - slope * scale)).sum() / weights.sum())
    value, deviation = (1.0 + slope) / 2.0, 0.5 / np.sqrt(spread)
    margin = float(special.ndtri(0.975)) * deviation
    return Hurst(
        "wavelet", value, value - margin, value + margin,
        2.0**scale, 2.0**logarithms, slope, intercept * np.log10(2.0),
    )  # fmt: skip


def estimators(min_scale: int = 1) -> Mapping[str, Callable[[ArrayLike], Hurst]]:
    """Return the estimators by name, restricted to scales of at least `min_scale` samples.

    At scales below those of protocols, such as round trips, the estimates disagree. Each estimator
    raises ValueError if the series is constant or too short; R/S needs the longest series.
    """
    octave = max(MIN_OCTAVE, int(np.ceil(np.log2(max(min_scale, 1)))))
    return {
        "aggregated variance": partial(aggregated_variance, min_scale=min_scale),
        "R/S": partial(rescaled_range, min_scale=max(min_scale, 16)),
        "wavelet": partial(wavelet, min_octave=octave),
    }


def estimates(values: ArrayLike, min_scale: int = 1) -> list[Hurst]:
    """Return the estimates of all methods for scales of at least `min_scale` samples."""
    return [estimate(values) for estimate in estimators(min_scale).values()]


def _checked(values: ArrayLike) -> np.ndarray:
    series = np.asarray(values, float)
    if len(series) < MIN_SAMPLES:
        raise ValueError(f"expected at least {MIN_SAMPLES} samples, found {len(series)}")
    if np.ptp(series) == 0.0:
        raise ValueError("a constant series has no Hurst parameter")
    return series


def _scales(count: int, min_scale: int) -> np.ndarray:
    largest = count // MIN_BLOCKS
    steps = int(np.log(max(largest / min_scale, 1.0)) / np.log(STEP)) + 1
    scales = np.unique((min_scale * STEP ** np.arange(steps)).astype(int))
    if len(scales) < 3:
        raise ValueError(f"expected three scales between {min_scale} and {largest} samples")
    return scales


def _blocks(series: np.ndarray, length: int) -> np.ndarray:
    return series[: len(series) // length * length].reshape(-1, length)


def _mean_rescaled_range(blocks: np.ndarray) -> float:
    sums = np.cumsum(blocks - blocks.mean(axis=1, keepdims=True), axis=1)
    ranges = np.maximum(sums.max(axis=1), 0.0) - np.minimum(sums.min(axis=1), 0.0)
    deviations = blocks.std(axis=1)
    some = deviations > 0.0
    return float((ranges[some] / deviations[some]).mean())


def _line(scales: np.ndarray, statistics: np.ndarray) -> tuple[float, float]:
    if not np.all(statistics > 0.0):
        nothing = int(scales[np.argmin(statistics)])
        raise ValueError(f"blocks of {nothing} samples are all alike: no Hurst parameter")
    slope, intercept = np.polyfit(np.log10(scales), np.log10(statistics), 1)
    return float(slope), float(intercept)
