"""A run too large for the disk is refused before it begins; the message gives readable sizes."""

import shutil
from collections import namedtuple

import pytest
from conftest import SMALL

import longhaul
from longhaul._engine import byte_count


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (12_345, "12.3 kB"),
        (999_600, "1.00 MB"),
        (12_884_901_888, "12.9 GB"),
        (123e12, "123 TB"),
    ],
)
def test_sizes_have_three_digits(count: float, text: str) -> None:
    assert byte_count(count) == text


def test_a_nearly_full_disk_is_named_with_what_it_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10, 10, 1234))
    with pytest.raises(longhaul.LonghaulError) as refused:
        longhaul.run(SMALL)
    # 100 samples of three flows and two links take at least four bytes each.
    assert "expected to write 2.00 kB, and the disk of" in str(refused.value)
    assert "has 1.23 kB left" in str(refused.value)
