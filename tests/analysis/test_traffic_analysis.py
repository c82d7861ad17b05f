"""Tests of analyses of traffic: Hurst parameter, distributions, paired connections."""

import numpy as np
import polars as pl
import pytest

from longhaul.analysis.traffic import convergence, distributions, hurst, maps, paired

RANDOM = np.random.default_rng(20031)


def fractional_noise(parameter: float, count: int, random: np.random.Generator) -> np.ndarray:
    """Return exact fractional Gaussian noise with a Hurst parameter.

    The method is that of Davies and Harte, Biometrika 74(1), 1987.
    """
    lag = np.arange(count + 1.0)
    power = 2 * parameter
    covariance = 0.5 * (np.abs(lag + 1) ** power - 2 * lag**power + np.abs(lag - 1) ** power)
    eigenvalues = np.fft.fft(np.concatenate([covariance, covariance[-2:0:-1]])).real
    assert eigenvalues.min() > -1e-9
    size = len(eigenvalues)
    normal = random.standard_normal(size) + 1j * random.standard_normal(size)
    noise = np.fft.fft(np.sqrt(np.maximum(eigenvalues, 0) / size) * normal).real
    return np.asarray(noise[:count])


def means(parameter: float, count: int = 2**15) -> dict[str, float]:
    """Return each method's estimate of the Hurst parameter `parameter`, as a mean over 8 series."""
    found: dict[str, list[float]] = {}
    random = np.random.default_rng(int(100 * parameter))
    for _ in range(8):
        for one in hurst.estimates(fractional_noise(parameter, count, random)):
            found.setdefault(one.method, []).append(one.value)
    return {method: float(np.mean(values)) for method, values in found.items()}


@pytest.mark.parametrize("parameter", [0.5, 0.6, 0.7, 0.84, 0.9])
def test_estimators_find_the_parameter_of_fractional_noise(parameter: float) -> None:
    found = means(parameter)
    assert found["wavelet"] == pytest.approx(parameter, abs=0.02)
    # These two estimators are biased, most near 1 (Taqqu and others 1995, Tables 1 and 2).
    assert found["aggregated variance"] == pytest.approx(parameter, abs=0.05)
    assert found["R/S"] == pytest.approx(parameter, abs=0.06)


def test_the_interval_of_the_wavelet_estimator_covers() -> None:
    random = np.random.default_rng(7)
    inside = 0
    for _ in range(100):
        found = hurst.wavelet(fractional_noise(0.8, 2**14, random))
        assert found.low is not None
        assert found.high is not None
        assert found.low < found.value < found.high
        inside += found.low <= 0.8 <= found.high
    # 95 of 100 are expected, with a standard deviation of 2.2.
    assert inside >= 95 - 3 * 2.2


def test_a_trend_misleads_variances_but_not_wavelets() -> None:
    noise = fractional_noise(0.5, 2**14, np.random.default_rng(3))
    series = noise + np.linspace(0.0, 4.0, len(noise))
    assert hurst.aggregated_variance(series).value > 0.8
    assert hurst.wavelet(series).value == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("factor", [1e-6, 37.0])
def test_estimates_do_not_depend_on_unit_or_origin(factor: float) -> None:
    noise = fractional_noise(0.7, 8192, np.random.default_rng(11))
    for one, other in zip(
        hurst.estimates(noise), hurst.estimates(factor * noise + 5 * factor), strict=True
    ):
        assert one.value == pytest.approx(other.value, abs=1e-6)


def test_the_line_goes_through_the_statistics() -> None:
    noise = fractional_noise(0.8, 2**15, np.random.default_rng(1))
    for found in hurst.estimates(noise):
        residuals = np.log10(found.line() / found.statistics)
        assert np.abs(residuals).max() < 0.2, found
        assert abs(residuals.mean()) < 0.05


@pytest.mark.parametrize("series", [np.ones(1000), np.arange(10.0), np.tile([0.0, 1.0], 1000)])
def test_what_has_no_hurst_parameter_is_refused(series: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"series|samples"):
        hurst.aggregated_variance(series)


def test_distributions_count_what_never_completed() -> None:
    grid = [0.5, 1.0, 2.0, 10.0]
    assert distributions.counts_above([1.0, 1.0, 2.0, 3.0], grid).tolist() == [4, 2, 1, 0]
    assert distributions.ccdf([1.0, 1.0, 2.0, 3.0], grid).tolist() == [1.0, 0.5, 0.25, 0.0]
    # Four of the eight have no value, and count as larger than every point.
    assert distributions.cdf([1.0, 1.0, 2.0, 3.0], grid, of=8).tolist() == [0, 0.25, 0.375, 0.5]
    with pytest.raises(ValueError, match="expected at least 4 that began, found 3"):
        distributions.ccdf([1.0, 1.0, 2.0, 3.0], grid, of=3)


def test_distribution_functions_of_random_values_are_those_of_their_distribution() -> None:
    grid = np.linspace(0, 5, 40)
    found = distributions.cdf(RANDOM.exponential(size=40_000), grid)
    # Bound of Dvoretzky, Kiefer and Wolfowitz, exceeded with a probability of 1e-6.
    assert np.abs(found - (1 - np.exp(-grid))).max() < np.sqrt(np.log(2e6) / 2 / 40_000)


def test_bands_lie_around_their_middle_and_shrink_with_coverage() -> None:
    grid = np.arange(5.0)
    curves = [grid + shift for shift in (-1.0, 0.0, 0.5, 2.0, 3.0)]
    whole, half = distributions.band(grid, curves), distributions.band(grid, curves, coverage=0.5)
    assert whole.middle.tolist() == (grid + 0.5).tolist() == half.middle.tolist()
    assert whole.low.tolist() == (grid - 1).tolist()
    assert whole.high.tolist() == (grid + 3).tolist()
    assert half.low.tolist() == grid.tolist()
    assert half.high.tolist() == (grid + 2).tolist()
    with pytest.raises(ValueError, match="curves with a value at each point"):
        distributions.band(grid, [[1.0, 2.0]])


def test_running_quantiles_are_those_of_each_beginning() -> None:
    values = RANDOM.pareto(1.23, 5000)
    found = convergence.running_quantile(values, 0.9, every=250)
    assert found.counts.tolist() == list(range(250, 5001, 250))
    for count, quantile in zip(found.counts, found.values, strict=True):
        assert quantile == np.quantile(values[:count], 0.9, method="inverted_cdf")
    mean = convergence.running_mean(values, every=250)
    assert mean.values[-1] == pytest.approx(values.mean())
    assert mean.values[0] == pytest.approx(values[:250].mean())


def test_variation_is_from_a_count_on() -> None:
    running = convergence.Running(np.array([1, 2, 3, 4]), np.array([100.0, 9.0, 10.0, 11.0]))
    assert running.range_after(2) == 2.0
    assert running.variation_after(2) == pytest.approx(np.sqrt(2 / 3) / 10)
    assert running.variation_after(1) > 1.0


def test_maps_of_means_and_their_differences() -> None:
    edges = [0, 1, 2], [0, 10, 20]
    one = maps.mean_map([0.5, 0.5, 1.0, 5.0], [5, 5, 10, 5], [1.0, 3.0, 7.0, 99.0], *edges)
    assert one.counts.tolist() == [[2, 0], [0, 1]]
    means = one.means(min_count=1)
    assert (means[0, 0], means[1, 1]) == (2.0, 7.0)
    assert np.isnan(means[0, 1])
    other = maps.mean_map([0.5, 0.5, 1.0], [5, 5, 10], [2.0, 2.0, 4.0], *edges)
    found = maps.difference(one, other, min_count=2)
    assert found[0, 0] == 0.0
    assert np.isnan(found[1, 1])
    assert ((one + other).counts == one.counts + other.counts).all()
    elsewhere = maps.mean_map([0.5], [5], [2.0], [0, 1, 3], [0, 10, 20])
    with pytest.raises(ValueError, match="expected two maps with the same cells"):
        maps.difference(one, elsewhere)


def table(**columns: list[object]) -> pl.DataFrame:
    """Return a table of the exchanges (requests and responses) of two traffic sources, a and b."""
    given = {
        "name": ["a", "a", "b"],
        "connection": [0, 1, 0],
        "start_s": [1.0, 2.0, 1.5],
        "request_bytes": [300, 300, 300],
        "response_bytes": [1000, 2000, 3000],
        "extra_rtt_s": [0.1, 0.2, 0.3],
        "end_s": [1.5, 3.0, 2.5],
        **columns,
    }
    return pl.DataFrame(given, strict=False)


def test_the_same_connections_are_compared_one_by_one() -> None:
    # The other run finished in another order, and one of its responses was cut short.
    other = table(end_s=[1.25, None, 3.0]).sort("end_s", descending=True)
    found = paired.matched(table(), other)
    assert found["connection"].to_list() == [0, 0, 1]
    assert found["name"].to_list() == ["a", "b", "a"]
    assert found["response_s"].to_list() == [0.5, 1.0, 1.0]
    assert found["other_response_s"].to_list() == [0.25, 1.5, None]
    assert paired.matched(table(), other, from_s=1.2).height == 2


def test_connections_that_straddle_the_start_are_not_paired() -> None:
    # Later exchanges of a connection start at times that depend on the network.
    again: dict[str, list[object]] = {"name": ["a", "b", "a"], "connection": [0, 0, 0]}
    first, other = table(**again, start_s=[1.0, 1.5, 2.0]), table(**again, start_s=[1.0, 1.5, 2.5])
    found = paired.matched(first, other, from_s=1.2)
    assert found["name"].to_list() == ["b"]


@pytest.mark.parametrize("column", ["response_bytes", "start_s", "extra_rtt_s"])
def test_connections_that_differ_are_not_paired(column: str) -> None:
    changed = table()[column].to_list()
    changed[1] *= 2
    with pytest.raises(paired.NotPairedError, match="connection 1 of a is not the same"):
        paired.matched(table(), table(**{column: changed}))
    with pytest.raises(paired.NotPairedError, match="no connection in common"):
        paired.matched(table(), table(name=["c", "c", "d"]))


def test_pairs_tell_small_gains_from_large_scatter() -> None:
    size = RANDOM.pareto(1.5, 4000)
    gain = 0.05 + 0.01 * RANDOM.standard_normal(4000)
    found = paired.paired(size, size - gain)
    assert found.mean == pytest.approx(-0.05, abs=0.001)
    assert found.mean_interval[0] <= found.mean <= found.mean_interval[1] < 0
    assert found.median_interval[1] < 0
    assert found.smaller == 1.0
    # Without pairs, the scatter is too large to see the difference.
    assert size.std() / np.sqrt(4000) > 0.05 / 3
    with pytest.raises(ValueError, match="as many values"):
        paired.paired([1.0, 2.0], [1.0])


def test_intervals_of_pairs_cover_where_neighbours_are_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Fewer samples than for a printed interval suffice to test coverage.
    monkeypatch.setattr(paired, "SAMPLES", 199)
    random = np.random.default_rng(5)
    inside = 0
    for _ in range(60):
        # Moving averages of ten make ten neighbouring pairs correlated.
        noise = np.convolve(random.standard_normal(2009), np.full(10, 0.1), "valid")
        found = paired.paired(np.zeros(2000), noise)
        inside += found.mean_interval[0] <= 0.0 <= found.mean_interval[1]
    assert inside >= 48


def test_ties_within_the_tolerance_count_for_neither() -> None:
    found = paired.paired([1.0, 1.0, 1.0, 1.0], [1.0, 1.05, 2.0, 0.5], tolerance=0.1)
    assert (found.smaller, found.larger) == (0.25, 0.25)
