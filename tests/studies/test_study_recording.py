"""Recordings of a study are small, and as exact as documented."""

from pathlib import Path

import numpy as np
import polars as pl

from longhaul.studies.data import Data


def test_trajectories_keep_six_digits_and_all_that_is_no_number(tmp_path: Path) -> None:
    windows = [1.0, 0.1, 123_456.7, -3e-9, None, float("nan"), float("inf"), 0.0]
    times = [0.123456789 * k for k in range(len(windows))]
    values = pl.DataFrame({"rate": [0.1234567891]})
    before = pl.DataFrame({"t_s": times, "load": [0.7] * len(windows), "cwnd": windows})
    Data(values, before, ("load",)).write(tmp_path)
    after = pl.read_parquet(tmp_path / "trajectories.parquet")
    # Levels of axes and times are those of single precision.
    for exact in ("t_s", "load"):
        assert after[exact].equals(before[exact].cast(pl.Float32))
    assert after["cwnd"].is_null().to_list() == [window is None for window in windows]
    assert after["cwnd"].is_nan().to_list()[5]
    numbers = [0, 1, 2, 3, 6, 7]
    found, expected = (table["cwnd"].gather(numbers).to_numpy() for table in (after, before))
    np.testing.assert_allclose(found, expected, rtol=5e-7)
    # What has been written once is not rounded again.
    Data(values, after, ("load",)).write(tmp_path)
    assert pl.read_parquet(tmp_path / "trajectories.parquet").equals(after)
    assert pl.read_parquet(tmp_path / "values.parquet")["rate"][0] == np.float32(0.1234567891)
