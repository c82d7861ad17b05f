"""`longhaul model response` and `longhaul model parallel-tcp`."""

import json
from pathlib import Path

import pytest
from conftest import CommandLine


def test_response_prints_the_published_functions(cli: CommandLine) -> None:
    printed = cli("model", "response", "--form", "tables").stdout
    # RFC 3649 table 4, and the windows of standard TCP.
    for text in ("12,279.5", "1,224.7", "8,333 segments"):
        assert text in printed


def test_response_takes_the_low_window_of_a_study(cli: CommandLine) -> None:
    words = ("model", "response", "--form", "ns2", "--low-window", "31", "--json")
    found = json.loads(cli(*words).stdout)
    # Spec 000 B.4: a(w) and b(w) for a low window of 31.
    of_1000 = next(row for row in found["parameters"] if row["window_pkts"] == 1000)
    assert of_1000["increase_pkts"] == pytest.approx(8.6092, abs=5e-5)
    assert of_1000["decrease"] == pytest.approx(0.32395, abs=5e-6)
    assert found["path"]["hstcp_loss"] == pytest.approx(1.664e-6, rel=1e-3)


def test_parallel_tcp_prints_both_bounds_and_the_busy_band(cli: CommandLine) -> None:
    words = ("model", "parallel-tcp", "--rate", "1 Gbps", "--buffer", "0.1")
    printed = cli(*words, "-n", "210").stdout
    assert "182 to 209 connections" in printed
    (found,) = json.loads(cli(*words, "-n", "210", "--json").stdout)
    (point,) = found["points"]
    assert point["synchronised_goodput"] < point["desynchronised_goodput"]


def test_parallel_tcp_over_red_knows_its_equilibrium_area(cli: CommandLine) -> None:
    printed = cli("model", "parallel-tcp", "--red", "-n", "19", "-n", "154", "-n", "605").stdout
    assert "more than 19.2 connections and at most 604" in printed
    assert "2.75e-02" in printed
    assert "605" not in printed


@pytest.mark.parametrize(
    ("words", "picture"), [(("response",), "a.svg"), (("parallel-tcp", "--red"), "b.png")]
)
def test_pictures_are_written_once(
    words: tuple[str, ...], picture: str, cli: CommandLine, tmp_path: Path
) -> None:
    assert picture in cli("model", *words, "--out", picture).stdout
    assert (tmp_path / picture).stat().st_size > 5000
    again = cli("model", *words, "--out", picture)
    assert again.returncode == 2
    assert "already exists" in again.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("response", "--form", "rfc"), "there are: rfc3649, tables, rounded, ns2"),
        (("response", "--form", "tables", "--low-window", "31"), "low window of 38 alone"),
        (("response", "--low-window", "0"), "from 1 to less than 83000"),
        (("parallel-tcp", "--buffer", "0"), "above 0 and at most 1"),
        (("parallel-tcp", "--window", "1000"), "at least one packet"),
        (("parallel-tcp", "-n", "0"), "at least 1"),
        (("parallel-tcp", "--red", "--q-max", "4"), "0 <= --q-min < --q-max"),
        (("parallel-tcp", "--rate", "fast"), "fast"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    words: tuple[str, ...], message: str, cli: CommandLine
) -> None:
    result = cli("model", *words)
    assert result.returncode == 2
    assert message in result.stderr
