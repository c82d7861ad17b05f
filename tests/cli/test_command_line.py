"""Output of each command, printed and in files."""

import json
import os
import subprocess
import sys
from math import inf, nan
from pathlib import Path

import pytest
from conftest import CommandLine

import longhaul
from longhaul.cli.printing import print_json


def done(result: "subprocess.CompletedProcess[str]") -> str:
    """Assert that a command succeeded with an empty error stream, and return its output."""
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


def test_check_says_valid_and_explain_where_values_come_from(small: Path, cli: CommandLine) -> None:
    assert done(cli("check", small)) == f"{small}: valid (Small; 10 s)\n"
    rows = json.loads(done(cli("explain", small, "--json", "--set", "seed=3")))
    origins = {row["path"]: (row["value"], row["origin"]) for row in rows}
    assert origins["seed"][0] == "3"
    assert "--set" in origins["seed"][1]
    assert "small.toml" in origins["duration"][1]
    assert "seed" in done(cli("explain", small))


def test_json_has_null_for_what_is_not_finite(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([{"a": (inf, -inf, nan, 1e-300, 0.1)}])
    assert json.loads(capsys.readouterr().out) == [{"a": [None, None, None, 1e-300, 0.1]}]


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
    from longhaul.guide import examples

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
        "window",
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
        "study tables",
    ],
)
def test_help_teaches_by_example(verb: str, cli: CommandLine) -> None:
    assert f"Example: longhaul {verb}" in done(cli(*verb.split(), "--help"))


def test_groups_of_verbs_have_help_of_their_own(cli: CommandLine) -> None:
    for group, verb in (("study", "claims"), ("model", "parallel-tcp")):
        for option in ("-h", "--help"):
            assert verb in done(cli(group, option))
    assert "Example: longhaul window" in done(cli("plot", "window", "-h"))
    assert "--show-completion" in done(cli("-h"))


def test_lists_name_keys_columns_traffic_and_profiles(cli: CommandLine) -> None:
    def listed(what: str) -> dict[str, dict[str, str]]:
        return {row["name"]: row for row in json.loads(done(cli("list", what, "--json")))}

    keys = listed("keys")
    assert "topology.dumbbell.bottleneck.rate" in keys
    assert "flows.*.traffic[requests].interval" in keys
    assert all(row["description"] and row["allowed"] for row in keys.values())
    columns = listed("columns")
    assert columns["flows.goodput_bps"]["unit"] == "bit/s"
    assert {"links.utilization", "series.cwnd_pkts", "exchanges.end_s"} <= columns.keys()
    assert {"requests", "packmime", "web"} <= listed("traffic").keys()
    assert {"rfc", "linux", "ns2-2.35", "ns2-2003"} == listed("profiles").keys()
    for what in ("keys", "columns", "traffic", "profiles"):
        printed = done(cli("list", what))
        assert not any(line != line.rstrip() for line in printed.splitlines())


def test_columns_are_those_of_the_tables(finished: longhaul.Results, cli: CommandLine) -> None:
    rows = json.loads(done(cli("list", "columns", "--json")))
    for name in ("flows", "links", "series", "events"):
        # No link of this run has a policer, or thins or filters ACKs.
        always = [row for row in rows if row["table"] == name and not row["only_with"]]
        assert finished.table(name).columns == [row["column"] for row in always]
    rare = {row["only_with"]: row["column"] for row in rows if row["column"].startswith("dropped_")}
    assert rare["policer"] == "dropped_policed_pkts"
    assert rare["ack_thinning"] == "dropped_thinned_pkts"
    assert rare["ack_filtering"] == "dropped_filtered_pkts"


def test_a_policer_has_a_column_where_there_is_one(tmp_path: Path) -> None:
    change = 'topology.dumbbell.bottleneck.policer={ rate = "10 Mbps", burst = "15 kB" }'
    file = Path(longhaul.__file__).parent / "scenarios" / "one_flow.toml"
    run = longhaul.run(
        file, out=tmp_path / "policed", set=[change, "duration=2 s", "measure.from=0 s"]
    )
    bottleneck = run.links.row(0, named=True)
    assert bottleneck["dropped_policed_pkts"] == bottleneck["dropped_pkts"] > 0
    assert "dropped_thinned_pkts" not in run.links.columns


SLOW_RETURN = """
duration = "20 s"
measure = { from = "5 s" }
tcp = { receive_window = 100, delayed_ack = false, timestamps = false }

[topology.dumbbell.bottleneck]
rate = "10 Mbps"
delay = "20 ms"
queue = { kind = "droptail", limit = "100 packets" }
reverse = { rate = "64 kbps", queue = { kind = "droptail", limit = "1000 packets" } }

[[flows]]
congestion = { kind = "reno" }
"""


@pytest.mark.parametrize(("filtering", "low", "high"), [(False, 2.3, 2.34), (True, 9.6, 9.74)])
def test_filtered_acks_do_not_limit_the_way_there(
    filtering: bool, low: float, high: float, tmp_path: Path
) -> None:
    """Check that filtering of ACKs on a slow reverse link speeds up the forward direction.

    64 kbit/s carry 200 ACKs of 40 bytes per second, which without filtering acknowledge 2.34
    Mbit/s.
    """
    file = tmp_path / "slow_return.toml"
    file.write_text(SLOW_RETURN)
    change = f"topology.dumbbell.bottleneck.reverse.ack_filtering={str(filtering).lower()}"
    run = longhaul.run(file, out=tmp_path / "run", set=[change])
    assert low < run.flows["goodput_bps"][0] * 1e-6 < high
    assert ("dropped_filtered_pkts" in run.links.columns) == filtering
    back = run.links.row(1, named=True)
    assert back["dropped_pkts"] == back.get("dropped_filtered_pkts", 0)


def test_a_run_can_be_run_again(
    finished: longhaul.Results, tmp_path: Path, cli: CommandLine
) -> None:
    file = finished.path / "run.json"
    assert "10 s" in done(cli("check", file))
    explained = json.loads(done(cli("explain", file, "--json")))
    assert {"path": "duration", "value": "10 s", "origin": f"{file}"} == {
        **next(row for row in explained if row["path"] == "duration"),
        "origin": f"{file}",
    }
    done(cli("run", file, "--quiet"))
    again = longhaul.Results(tmp_path / "runs" / "r1-again")
    assert again.meta["scenario_hash"] == finished.meta["scenario_hash"]
    assert again.flows.equals(finished.flows)


def test_compare_says_what_differs_and_by_how_much(
    finished: longhaul.Results,
    finished_again: longhaul.Results,
    tmp_path: Path,
    small: Path,
    cli: CommandLine,
) -> None:
    printed = done(cli("compare", finished.path, finished_again.path))
    assert "scenarios differ in" in printed
    (line,) = [line for line in printed.splitlines() if line.split()[:1] == ["seed"]]
    assert line.split()[1:] == ["1", "2"]
    assert "r2 - r1" in printed
    sent = [run.summary().total["goodput_bps"] * 1e-6 for run in (finished, finished_again)]
    assert f"{sent[1] - sent[0]:+.1f}" in printed
    done(cli("run", small, "--out", "short", "-q", "--set", "duration=5 s"))
    warned = cli("compare", finished.path, "short")
    assert "differ in their simulated times (r1: 10 s, short: 5 s)" in warned.stderr
    assert "results versions" not in warned.stderr


def test_the_progress_bar_keeps_its_time_left() -> None:
    from longhaul.running.progress import BESIDE_TITLE, shortened

    title = "HighSpeed TCP beside standard TCP on a path across the whole of the Atlantic"
    for width in (80, 100, 300):
        assert len(shortened(title, width)) <= max(4, width - BESIDE_TITLE)
    assert shortened(title, 300) == title


def test_the_package_is_the_command(cli_process: CommandLine) -> None:
    module = [sys.executable, "-m", "longhaul", "--version"]
    called = subprocess.run(module, capture_output=True, text=True, check=True)
    assert called.stdout == cli_process("--version").stdout


@pytest.mark.parametrize(
    "words", [("list", "keys"), ("list", "columns", "--json"), ("list", "plots", "--json")]
)
def test_a_reader_that_closes_the_pipe_is_no_error(words: tuple[str, ...]) -> None:
    command = [str(Path(sys.executable).with_name("longhaul")), *words]
    ours, theirs = os.pipe()
    os.close(ours)
    ended = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False)
    os.close(theirs)
    assert (ended.returncode, ended.stderr) == (0, "")
