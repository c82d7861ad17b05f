"""Wrong input gives one clear message, exit code 2, no traceback, and no files."""

import json
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL, CommandLine

import longhaul


def refused(result: object, *expected: str) -> None:
    code, out, err = (getattr(result, name) for name in ("returncode", "stdout", "stderr"))
    assert code == 2, (code, out, err)
    assert err.startswith("error: "), err
    assert "Traceback" not in out + err
    for text in expected:
        assert text in err, err


# By error: the replacement that causes it, and words of the message, which names the file, then the
# key or the place, and the remedy.
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
links = [{ from = "a", to = "b", duplex = true, rate = "1 Mbps", delay = "50 ms" }]

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
    # A file is where a directory would have to be, which fails for the superuser, too.
    refused(cli("run", small, "--out", small / "below" / "r1"), "small.toml")
    refused(cli("run", small, "--out", "/proc/r1"), "/proc")


def test_a_truncated_table_is_refused(small: Path, tmp_path: Path, cli: CommandLine) -> None:
    assert cli("run", small, "--out", "r1", "--quiet").returncode == 0
    table = tmp_path / "r1" / "series.parquet"
    table.write_bytes(table.read_bytes()[: table.stat().st_size // 2])
    for words in (["plot", "r1", "cwnd"], ["plot", table, "cwnd"], ["report", "r1"]):
        refused(cli(*words), "series.parquet", "run the scenario again")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r1", "small.toml"]


def _edited(meta: Path, old: str, new: str) -> None:
    text = meta.read_text()
    assert old in text
    meta.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"simulated_s": 10.0', '"simulated_s": "x"'),
        ('"machine": {', '"machine": {}, "other": {'),
        ('"label": "fast"', '"label": "slow"'),
        ('"seed": 1', '"seed": 2'),
        ('"rows": {', '"rows": {"odd": "many",'),
        ('"warnings": [', '"warnings": [1, '),
        ("{", "[] "),
    ],
)
def test_an_edited_run_is_refused(
    old: str, new: str, tmp_path: Path, cli: CommandLine, small: Path
) -> None:
    assert cli("run", small, "--out", "r1", "--quiet").returncode == 0
    _edited(tmp_path / "r1" / "run.json", old, new)
    for words in (["compare", "r1"], ["report", "r1"], ["plot", "r1"]):
        refused(cli(*words), "run.json", "run the scenario again")
    (tmp_path / "r1" / "run.json").write_text("[]")
    refused(cli("compare", "r1"), "run.json")


def test_a_flipped_byte_is_found(tmp_path: Path, cli: CommandLine, small: Path) -> None:
    assert cli("run", small, "--out", "r1", "--quiet").returncode == 0
    table = tmp_path / "r1" / "flows.parquet"
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 0xFF
    table.write_bytes(content)
    refused(cli("compare", "r1"), "flows.parquet", "checksum")


def test_a_table_of_another_version_is_refused(
    tmp_path: Path, cli: CommandLine, small: Path
) -> None:
    assert cli("run", small, "--out", "r1", "--quiet").returncode == 0
    run = tmp_path / "r1"
    pl.read_parquet(run / "flows.parquet").drop("in_order_bytes").write_parquet(
        run / "flows.parquet"
    )
    # Older versions wrote no checksums.
    meta = json.loads((run / "run.json").read_text())
    del meta["sha256"], meta["sha256_above"]
    (run / "run.json").write_text(json.dumps(meta))
    refused(cli("compare", "r1"), "flows.parquet", "in_order_bytes", "results version")


def test_the_demo_names_the_remedy_for_what_is_there(tmp_path: Path, cli: CommandLine) -> None:
    (tmp_path / "demo-report" / "RED+ECN").mkdir(parents=True)
    refused(cli("demo"), "RED+ECN", "--overwrite")


def test_a_report_from_python_does_not_overwrite(
    finished: longhaul.Results, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text("precious")
    with pytest.raises(longhaul.OutputError, match="already exists"):
        longhaul.report(finished, page)
    assert page.read_text() == "precious"
    longhaul.report(finished, page, overwrite=True)
    assert "<svg" in page.read_text()


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


def test_a_place_or_a_picture_that_would_be_ignored_is_refused(cli: CommandLine) -> None:
    for words in (("claims", "hstcp-2003", "--out"), ("report", "hstcp-2003", "--of")):
        result = cli("study", *words, "nowhere")
        assert result.returncode == 2
        assert "nowhere" in result.stderr
    refused(cli("compare", "r1", "r2", "--plot", "x.svg"), "--plot x.svg", "--with fluid")


def test_an_unknown_plot_is_refused(finished: longhaul.Results, cli: CommandLine) -> None:
    refused(
        cli("plot", finished.path, "cwdn"), "cwdn", "did you mean `cwnd`", "longhaul list plots"
    )
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
    refused(cli("new", "mine.toml", "--from", "nothing"), "nothing", "longhaul list examples")
    refused(cli("list", "cities"), "cities", "longhaul list --help")
    refused(cli("list", "kyes"), "did you mean `keys`")
