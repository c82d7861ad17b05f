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
    # ns-2's a(w) and b(w) (RFC 3649 section 5) for a low window of 31.
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


def test_parallel_tcp_prints_no_more_connections_than_packets_of_the_path(cli: CommandLine) -> None:
    printed = cli("model", "parallel-tcp", "--window", "1500", "--buffer", "0.1", "--json").stdout
    assert max(point["connections"] for point in json.loads(printed)[0]["points"]) == 833


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
        (("response", "--form", "rfc"), "available: rfc3649, tables, rounded, ns2"),
        (("response", "--form", "tables", "--low-window", "31"), "low window of 38 alone"),
        (("response", "--low-window", "0"), "from 1 to 3600 segments"),
        (("response", "--low-window", "3800"), "from 1 to 3600 segments"),
        (("parallel-tcp", "--buffer", "0"), "above 0 and at most 1"),
        (("parallel-tcp", "--window", "1000"), "at least one packet"),
        (("parallel-tcp", "-n", "0"), "at least 1"),
        (("parallel-tcp", "--red", "--q-max", "4"), "0 <= --q-min < --q-max"),
        (("parallel-tcp", "--rate", "fast"), "fast"),
        (("parallel-tcp", "--packet", "nan"), "--packet nan: expected a finite number above 0"),
        (("parallel-tcp", "--window", "nan"), "--window nan"),
        (("parallel-tcp", "-n", "2000", "--buffer", "0.1"), "--connections 2000: at most 1001"),
        (("parallel-tcp", "--rate", "1 Tbps", "--window", "1e12"), "--window 1e+12: expected less"),
        (("response", "--rate", "1 kbps", "--rtt", "1 ms"), "--rate 1 kbps --rtt 1 ms"),
        (("laws", "--rate", "0 bps"), "0 packets; expected at least 2"),
        (("laws", "--rate", "1 Tbps", "--rtt", "10 s", "bic"), "bic has no mean window"),
        (("path", "--rate", "0 bps"), "--rate 0 bps"),
        (("path", "--packet", "nan"), "--packet nan"),
        (("equilibrium", "reno", "--rtt", "0 s"), "--rtt 0 s"),
        (("equilibrium", "reno", "--flows", "inf"), "--flows inf"),
        (("equilibrium", "reno", "--buffer", "100", "--buffer", "nan"), "--buffer nan"),
        (("equilibrium", "reno", "--buffer", "-5"), "--buffer -5"),
        (("hybrid", "--hours", "nan"), "--hours nan"),
        (("hybrid", "--hours", "inf"), "--hours inf"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    words: tuple[str, ...], message: str, cli: CommandLine
) -> None:
    result = cli("model", *words)
    assert result.returncode == 2
    assert message in result.stderr


def test_laws_say_where_they_leave_standard_tcp(cli: CommandLine) -> None:
    rows = json.loads(cli("model", "laws", "reno", "hstcp", "--json").stdout)
    assert [row["algorithm"] for row in rows] == ["reno", "hstcp"]
    assert rows[1]["ahead_of_standard_below"] == pytest.approx(1e-3, rel=0.1)
    assert rows[0]["recovery_s"] == pytest.approx(416.7, abs=0.1)


def test_laws_tell_always_ahead_from_never(cli: CommandLine) -> None:
    words = ("model", "laws", "hybla", "constant-rate")
    printed = cli(*words).stdout
    assert "always" in printed
    assert "never" in printed
    ahead = [row["ahead_of_standard_below"] for row in json.loads(cli(*words, "--json").stdout)]
    assert ahead == [1.0, 0.0]


def test_equilibria_are_those_of_table_a_1(cli: CommandLine) -> None:
    words = ("model", "equilibrium", "cubic", "--rtt", "300 ms", "--buffer", "50", "--json")
    (cell,) = json.loads(cli(*words).stdout)
    assert cell["throughput_pps"] / 1e3 == pytest.approx(76, abs=0.5)


def test_the_hybrid_model_prints_three_sets(cli: CommandLine) -> None:
    words = ("model", "hybrid", "--buffer", "25000", "--hours", "0.1", "--plot", "sets.svg")
    assert "25,000" in cli(*words).stdout
    assert "per-link, shared" not in cli(*words, "--overwrite").stderr
    assert "expected one of shared, per-link" in cli("model", "hybrid", "--routers", "none").stderr


def test_a_path_has_its_buffers(cli: CommandLine) -> None:
    found = json.loads(cli("model", "path", "--flows", "100", "--json").stdout)
    assert found["bdp_pkts"] / found["shared_buffer_pkts"] == pytest.approx(10.0)


SCENARIO = """
duration = "20 s"
measure  = { from = "10 s", every = "100 ms" }
topology.dumbbell.bottleneck = { rate = "100 Mbps", delay = "10 ms" }
flows = [{ count = 2 }]
"""


def test_a_scenario_stands_beside_its_fluid_model(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SCENARIO)
    words = ("compare", "mine.toml", "--with", "fluid")
    found = json.loads(cli(*words, "--json", "--plot", "both.svg").stdout)
    names = [row["name"] for row in found]
    assert names == ["window_pkts", "rate_pps", "rtt_s", "queue_pkts", "loss", "utilisation"]
    assert (tmp_path / "both.svg").stat().st_size > 5000
    rate = found[1]
    assert rate["difference"] == pytest.approx(rate["fluid"] / rate["packets"] - 1)
    assert "expected fluid" in cli("compare", "mine.toml", "--with", "gas").stderr


def test_an_equilibrium_that_there_is_not_is_said(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SCENARIO)
    assert "no equilibrium between" in cli("model", "fluid", "mine.toml").stdout


def test_a_root_of_zero_is_no_verdict(cli: CommandLine, tmp_path: Path) -> None:
    cubic = SCENARIO.replace("count = 2", 'count = 2, congestion = { kind = "cubic" }')
    red = 'queue = { kind = "red", min_th = "5 packets", max_th = "15 packets" }, delay = "10 ms"'
    (tmp_path / "mine.toml").write_text(cubic.replace('delay = "10 ms"', red))
    words = ("model", "fluid", "mine.toml")
    assert json.loads(cli(*words, "--json").stdout)["stable"] is None
    printed = cli(*words).stdout
    assert "bottleneck" in printed
    assert "the linear test says nothing" in printed
