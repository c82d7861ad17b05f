"""What each verb prints and leaves."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import SMALL, CommandLine

import longhaul


def done(result: "subprocess.CompletedProcess[str]") -> str:
    """Asserts success without a word on the error stream; returns what was printed."""
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return result.stdout


def test_a_run_prints_a_table_and_where_the_tables_are(small: Path, cli: CommandLine) -> None:
    printed = done(cli("run", small))
    for text in ("Small", "fast", "standard", "goodput", "limited by", "runs/small"):
        assert text in printed


def test_quiet_prints_nothing(small: Path, cli: CommandLine) -> None:
    assert done(cli("run", small, "--quiet")) == ""


def test_json_holds_the_figures_of_the_tables(
    small: Path, tmp_path: Path, cli: CommandLine
) -> None:
    printed = json.loads(done(cli("run", small, "--out", "r1", "--json")))
    flows = longhaul.Results(tmp_path / "r1").flows
    assert [label["label"] for label in printed["labels"]] == ["fast", "standard"]
    assert printed["all"]["goodput_bps"] == pytest.approx(flows["goodput_bps"].sum())
    assert printed["labels"][0]["flows"] == 2
    assert len(printed["flows"]) == 3
    assert printed["run"]["seed"] == 1


def test_an_override_reaches_the_engine(small: Path, tmp_path: Path, cli: CommandLine) -> None:
    done(cli("run", small, "--out", "r1", "-q", "--set", "flows.0.count=3", "--set", "seed=7"))
    results = longhaul.Results(tmp_path / "r1")
    assert results.flows.height == 4
    assert results.meta["seed"] == 7


def test_check_says_fine_and_explain_where_values_come_from(small: Path, cli: CommandLine) -> None:
    assert "fine" in done(cli("check", small))
    rows = json.loads(done(cli("explain", small, "--json", "--set", "seed=3")))
    origins = {row["path"]: (row["value"], row["origin"]) for row in rows}
    assert origins["seed"][0] == "3"
    assert "--set" in origins["seed"][1]
    assert "small.toml" in origins["duration"][1]
    assert "seed" in done(cli("explain", small))


@pytest.mark.parametrize("source", ["template", "hstcp_beside_sack"])
def test_a_new_scenario_is_a_valid_one(source: str, tmp_path: Path, cli: CommandLine) -> None:
    done(cli("new", "mine.toml", "--from", source))
    assert "#" in (tmp_path / "mine.toml").read_text()
    done(cli("check", "mine.toml"))
    again = cli("new", "mine.toml", "--from", source)
    assert again.returncode == 2
    assert "--overwrite" in again.stderr


def test_every_example_is_listed_and_valid(cli: CommandLine) -> None:
    listed = json.loads(done(cli("list", "examples", "--json")))
    names = [row["name"] for row in listed]
    assert {"template", "hstcp_beside_sack"} <= set(names)
    assert all(row["description"] for row in listed)
    from longhaul import examples

    for name in names:
        examples.load(name)


def test_lists_name_algorithms_with_parameters_and_plots(cli: CommandLine) -> None:
    algorithms = {row["name"]: row for row in json.loads(done(cli("list", "--json")))}
    assert "RFC 3649" in algorithms["hstcp"]["source"]
    high_window = algorithms["hstcp"]["parameters"][1]
    assert (high_window["name"], high_window["default"]) == ("high_window", 83000.0)
    assert "low_window" in done(cli("list", "algorithms"))
    assert "cwnd" in done(cli("list", "plots"))


def test_lists_queues_with_what_may_be_written(cli: CommandLine) -> None:
    queues = {row["name"]: row for row in json.loads(done(cli("list", "queues", "--json")))}
    assert queues["pie"]["source"] == "RFC 8033"
    keys = {key["name"]: key for key in queues["pie"]["parameters"]}
    assert (keys["target"]["default"], keys["limit"]["default"]) == ("15 ms", "1 BDP")
    assert "fq-codel" in done(cli("list", "queues"))


def test_compare_puts_runs_side_by_side(
    finished: longhaul.Results, finished_again: longhaul.Results, cli: CommandLine
) -> None:
    printed = done(cli("compare", finished.path, finished_again.path))
    assert "r1" in printed
    assert "r2" in printed
    both = json.loads(done(cli("compare", finished.path, finished_again.path, "--json")))
    assert [run["run"]["seed"] for run in both] == [1, 2]


@pytest.mark.parametrize(
    "verb",
    [
        "run",
        "plot",
        "plot window",
        "compare",
        "report",
        "check",
        "explain",
        "new",
        "list",
        "demo",
        "study list",
        "study run",
        "study claims",
        "study report",
    ],
)
def test_help_teaches_by_example(verb: str, cli: CommandLine) -> None:
    assert f"Example: longhaul {verb}" in done(cli(*verb.split(), "--help"))


def test_ctrl_c_stops_a_run_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(SMALL.replace("10 s", "100000 s", 1))
    command = [str(Path(sys.executable).with_name("longhaul")), "run", "long.toml", "--out", "r1"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not any(path.name.startswith("r1") for path in tmp_path.iterdir()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "interrupted" in error
    assert "Traceback" not in error
    assert [path.name for path in tmp_path.iterdir()] == ["long.toml"]


def test_the_package_is_the_command(cli_process: CommandLine) -> None:
    module = [sys.executable, "-m", "longhaul", "--version"]
    called = subprocess.run(module, capture_output=True, text=True, check=True)
    assert called.stdout == cli_process("--version").stdout
