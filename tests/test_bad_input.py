"""Whatever a user gets wrong: one clear message, exit code 2, no traceback, nothing written."""

from pathlib import Path

import pytest
from conftest import SMALL, CommandLine

import longhaul


def refused(result: object, *expected: str) -> None:
    """Asserts that a command was refused with a message that contains all of `expected`."""
    code, out, err = (getattr(result, name) for name in ("returncode", "stdout", "stderr"))
    assert code == 2, (code, out, err)
    assert err.startswith("error: "), err
    assert "Traceback" not in out + err
    for text in expected:
        assert text in err, err


# What is wrong, how the file gets so, and what the message has to name besides the file: the key or
# the place, then the remedy.
BAD_SCENARIOS = {
    "an unknown key": (('duration = "10 s"', 'durration = "10 s"'), ["durration", "duration"]),
    "an unknown nested key": (("from =", "form ="), ["measure.form", "from"]),
    "a missing unit": (('rate  = "20 Mbps"', 'rate  = "20"'), ["rate", "Mbps"]),
    "a number for a quantity": (('rate  = "20 Mbps"', "rate  = 20"), ["rate", "Mbps"]),
    "the wrong unit": (('rate  = "20 Mbps"', 'rate  = "20 ms"'), ["rate", "ms"]),
    "a negative rate": (('"20 Mbps"', '"-20 Mbps"'), ["rate", "-20 Mbps"]),
    "unknown congestion control": (('"hstcp"', '"hstpc"'), ["congestion", "hstcp"]),
    "a zero buffer": (('limit = "1 BDP"', 'limit = "0 packets"'), ["limit"]),
    "a start after the end": (('["0 s", "1 s"]', '["0 s", "11 s"]'), ["start", "10 s"]),
    "no TOML at all": (("title    =", "title    "), ["2:11", "expected `=`"]),
}


@pytest.mark.parametrize("what", BAD_SCENARIOS)
@pytest.mark.parametrize("verb", ["check", "run"])
def test_a_bad_scenario_is_refused(verb: str, what: str, tmp_path: Path, cli: CommandLine) -> None:
    (good, bad), expected = BAD_SCENARIOS[what]
    assert good in SMALL
    (tmp_path / "bad.toml").write_text(SMALL.replace(good, bad, 1))
    refused(cli(verb, "bad.toml"), "bad.toml:", *expected)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


def test_a_flow_to_a_node_that_does_not_exist_is_refused(tmp_path: Path, cli: CommandLine) -> None:
    scenario = """
duration = "1 s"

[topology.graph]
nodes = ["a", "b"]
links = [{ from = "a", to = "b", both = true, rate = "1 Mbps", delay = "50 ms" }]

[[flows]]
from = "a"
to = "bee"
"""
    (tmp_path / "bad.toml").write_text(scenario)
    refused(cli("run", "bad.toml"), "bad.toml:", "bee", "b")
    assert not (tmp_path / "runs").exists()


def test_a_scenario_that_is_not_there_is_refused(cli: CommandLine) -> None:
    refused(cli("run", "nowhere.toml"), "nowhere.toml")


def test_a_bad_override_is_refused(small: Path, cli: CommandLine) -> None:
    refused(cli("run", small, "--set", "sede=2"), "sede", "seed")


def test_an_existing_run_is_not_overwritten(small: Path, tmp_path: Path, cli: CommandLine) -> None:
    assert cli("run", small, "--out", "r1", "--quiet").returncode == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "r1").iterdir()}
    refused(cli("run", small, "--out", "r1", "--set", "seed=2"), "r1", "--overwrite")
    assert {path.name: path.read_bytes() for path in (tmp_path / "r1").iterdir()} == before
    assert cli("run", small, "--out", "r1", "--set", "seed=2", "--overwrite").returncode == 0
    assert longhaul.Results(tmp_path / "r1").meta["seed"] == 2


def test_a_directory_that_is_no_run_is_never_overwritten(
    small: Path, tmp_path: Path, cli: CommandLine
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    refused(cli("run", small, "--out", "mine", "--overwrite"), "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "precious"


def test_an_unwritable_output_is_refused(small: Path, cli: CommandLine) -> None:
    # A file where a directory would have to be: refused for any user, the superuser included.
    refused(cli("run", small, "--out", small / "below" / "r1"), "small.toml")
    refused(cli("run", small, "--out", "/proc/r1"), "/proc")


def test_a_truncated_table_is_refused(small: Path, tmp_path: Path, cli: CommandLine) -> None:
    assert cli("run", small, "--out", "r1", "--quiet").returncode == 0
    table = tmp_path / "r1" / "series.parquet"
    table.write_bytes(table.read_bytes()[: table.stat().st_size // 2])
    for words in (["plot", "r1", "cwnd"], ["plot", table, "cwnd"], ["report", "r1"]):
        refused(cli(*words), "series.parquet", "run the scenario again")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r1", "small.toml"]


def test_a_missing_table_is_refused(tmp_path: Path, cli: CommandLine, small: Path) -> None:
    assert cli("run", small, "--out", "r1", "--quiet").returncode == 0
    (tmp_path / "r1" / "flows.parquet").unlink()
    refused(cli("compare", "r1"), "flows.parquet", "missing")


def test_what_is_no_run_is_refused(tmp_path: Path, cli: CommandLine) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "stray.parquet").write_bytes(b"PAR1")
    refused(cli("compare", "empty"), "empty", "run.json")
    refused(cli("report", "nowhere"), "nowhere", "does not exist")
    refused(cli("plot", "stray.parquet", "cwnd"), "run.json")
    assert not (tmp_path / "report.html").exists()


def test_an_unknown_plot_is_refused(finished: longhaul.Results, cli: CommandLine) -> None:
    refused(cli("plot", finished.path, "cwdn"), "cwdn", "cwnd", "queue")
    refused(cli("plot", "cwnd"), "longhaul plot RUN")


def test_pictures_and_reports_are_not_overwritten(
    finished: longhaul.Results, tmp_path: Path, cli: CommandLine
) -> None:
    for name in ("r1-cwnd.svg", "report.html"):
        (tmp_path / name).write_text("precious")
    refused(cli("plot", finished.path, "cwnd"), "r1-cwnd.svg", "--overwrite")
    refused(cli("report", finished.path), "report.html", "--overwrite")
    assert (tmp_path / "r1-cwnd.svg").read_text() == "precious"
    assert (tmp_path / "report.html").read_text() == "precious"


def test_an_unknown_example_or_list_is_refused(cli: CommandLine) -> None:
    refused(cli("new", "mine.toml", "--from", "nothing"), "nothing", "hstcp_beside_sack")
    refused(cli("list", "cities"), "cities", "algorithms")
