"""Error messages suggest the probably intended name, or the right command."""

import re
from pathlib import Path

import pytest
from conftest import AIMD, CommandLine

import longhaul
from longhaul.evaluation.contenders import ContenderError, contender
from longhaul.files.names import suggestion
from longhaul.results import ResultsError

pytestmark = pytest.mark.usefixtures("workers_here")

CAMPAIGN = """
responses = ["goodput_bps"]
replications = 2
[factors]
algorithm = { path = "flows.flow.congestion.kind", levels = ["reno", "cubic"] }
[scenario]
duration = "1 s"
[scenario.topology.dumbbell.bottleneck]
rate = "2 Mbps"
delay = "5 ms"
queue = { kind = "droptail", limit = "20 packets" }
[[scenario.flows]]
label = "flow"
start = { uniform = ["0 s", "100 ms"] }
"""


def refusal(cli: CommandLine, *words: str) -> str:
    """Return the message with which a command is refused, as one line."""
    refused = cli(*words)
    assert refused.returncode == 2, refused
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", refused.stderr).split())


def test_a_campaign_is_found_from_any_directory(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queues.toml").write_text(CAMPAIGN)
    assert cli("campaign", "run", "queues.toml", "--workers", "1", "-q").returncode == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert "algorithm" in cli("analyze", "../queues.toml").stdout
    assert "4 done" in cli("campaign", "status", "../queues.toml").stdout
    # Repeating the command resumes the campaign, and runs nothing twice.
    again = cli("campaign", "run", "../queues.toml", "--workers", "1")
    assert "4 of 4 runs done, 0 of them now" in again.stdout
    assert list(elsewhere.iterdir()) == []


def test_runs_of_another_campaign_of_that_name_are_not_taken(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queues.toml").write_text(CAMPAIGN)
    assert cli("campaign", "run", "queues.toml", "--workers", "1", "-q").returncode == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "queues.toml").write_text(CAMPAIGN.replace("1 s", "2 s"))
    monkeypatch.chdir(elsewhere)
    message = refusal(cli, "analyze", "queues.toml")
    assert "no run has finished in campaigns/queues; `longhaul campaign run queues.toml`" in message


def test_places_that_were_looked_at_are_named(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queues.toml").write_text(CAMPAIGN)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    places = "in campaigns/queues or ../campaigns/queues;"
    assert places in refusal(cli, "analyze", "../queues.toml")
    (tmp_path / "campaigns/queues/store").mkdir(parents=True)
    assert places in refusal(cli, "analyze", "../queues.toml")


def test_several_runs_are_analysed_alike(
    finished: longhaul.Results, finished_again: longhaul.Results, cli: CommandLine
) -> None:
    runs = [str(finished.path), str(finished_again.path)]
    printed = cli("analyze", *runs, "merit").stdout
    assert printed.count("figures of merit") == 2
    assert "r1: figures of merit" in printed
    assert "r2: figures of merit" in printed
    assert "unknown analysis `nothing`" in refusal(cli, "analyze", *runs, "nothing")


def test_a_file_with_one_algorithm_is_enough(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "both.py").write_text(AIMD)
    one = AIMD[: AIMD.index("class PerRound")]
    (tmp_path / "mine.py").write_text(one)
    drawn = cli("window", "mine.py", "reno", "--loss-every", "100", "--rounds", "50")
    assert drawn.returncode == 0, drawn.stderr
    assert "Aimd" in drawn.stdout
    assert (tmp_path / "window-mine-reno.svg").is_file()
    message = refusal(cli, "window", "both.py", "--loss-every", "100")
    assert "found Aimd, PerRound; say which, as in both.py:Aimd" in message
    (tmp_path / "coded.py").write_bytes(f"# coding: latin-1\n# \xe9\n{one}".encode("latin-1"))
    message = refusal(cli, "window", "coded.py", "--loss-every", "100")
    assert "cannot read coded.py: it is not UTF-8 text" in message


def test_the_name_of_a_study_opens_its_results(cli: CommandLine, tmp_path: Path) -> None:
    written = cli("explore", "split-pep-2009")
    assert written.returncode == 0, written.stderr
    assert (tmp_path / "split-pep-2009-explorer.html").is_file()


# Only `run` writes a table.
@pytest.mark.parametrize("verb", ["run", "work"])
def test_the_file_of_a_campaign_opens_its_results(
    verb: str, cli: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "c.toml").write_text(CAMPAIGN)
    assert "no run has finished" in refusal(cli, "explore", "c.toml")
    assert cli("campaign", verb, "c.toml", "--workers", "1", "-q").returncode == 0
    assert cli("explore", "c.toml").returncode == 0
    assert (tmp_path / "c-explorer.html").is_file()


def test_after_did_you_mean_a_command_lists_the_rest(
    finished: longhaul.Results, cli: CommandLine
) -> None:
    message = refusal(cli, "plot", str(finished.path), "thruput")
    assert "did you mean `throughput`?); `longhaul list plots` shows all" in message
    assert "response-times" not in message
    message = refusal(cli, "window", "cubik", "--loss-every", "9")
    assert "did you mean `cubic`?); `longhaul list algorithms` shows all" in message
    with pytest.raises(ContenderError, match=r"`bbr3`\?\).*`longhaul list algorithms`"):
        contender("bbrv3")


def test_at_most_five_names_follow_the_one_meant(
    finished: longhaul.Results, small: Path, cli: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "c.toml").write_text(CAMPAIGN.replace("goodput_bps", "retransmission_rate"))
    messages = {
        "`longhaul list figures` shows all": refusal(cli, "campaign", "plan", "c.toml"),
        "`longhaul list algorithms` shows all": refusal(
            cli, "check", str(small), "--set", "flows.0.congestion.kind=cubik"
        ),
        "`longhaul list keys bottleneck` shows all": refusal(
            cli, "check", str(small), "--set", "topology.dumbbell.bottleneck.rat='1 Mbps'"
        ),
        "`longhaul list queues` shows all": refusal(
            cli, "check", str(small), "--set", "topology.dumbbell.bottleneck.queue.kind=coddel"
        ),
        "`longhaul list examples` shows all": refusal(cli, "new", "x.toml", "--from", "one_flw"),
        "`longhaul analyze list` shows all": refusal(cli, "analyze", str(finished.path), "merits"),
    }
    for command, message in messages.items():
        assert "did you mean" in message, message
        assert command in message, message
        assert message.count(",") <= 5, message
    with pytest.raises(ResultsError, match=r"`goodput_bps`\?\); `longhaul list columns` shows"):
        finished.flows["goodput"]
    # The command that messages about a key recommend lists the keys of its table.
    keys = cli("list", "keys", "shaper").stdout
    assert "shaper.rate" in keys
    assert "measure.from" not in keys


def test_names_are_chosen_by_how_many_there_are() -> None:
    many = [f"name_{number}" for number in range(30)]
    assert suggestion("nme_3", many[:5]).endswith(
        "; available: name_0, name_1, name_2, name_3, name_4"
    )
    assert (
        suggestion("nme_3", many, "list them")
        == " (did you mean `name_3`?); `list them` shows all 30"
    )
    near = suggestion("nme_3", many)
    assert near.startswith(" (did you mean `name_3`?); nearest of 30: name_3, ")
    assert near.count(",") == 4
    assert suggestion("x", many[:20]).count(",") == 19
    assert suggestion("x", many).startswith("; nearest of 30: ")


def test_a_scenario_and_a_campaign_are_told_apart(
    small: Path, cli: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "c.toml").write_text(CAMPAIGN)
    message = refusal(cli, "campaign", "run", str(small))
    assert f"a scenario, not a campaign: `longhaul run {small}` runs it" in message
    for command in ("run", "check", "explain"):
        message = refusal(cli, command, "c.toml")
        assert "c.toml: a campaign, not a scenario: `longhaul campaign run c.toml`" in message


def test_a_plot_of_a_table_that_is_missing_says_how_to_ask_for_it(
    finished: longhaul.Results, cli: CommandLine
) -> None:
    message = refusal(cli, "plot", str(finished.path), "delays")
    assert "no plot `delays`: the scenario measures them with `measure = { delays = true }`" in (
        message
    )


def test_runs_that_are_not_in_a_list_are_explained(finished: longhaul.Results) -> None:
    with pytest.raises(ResultsError, match=r"longhaul\.plot\(\[run, other\], \"throughput\"\)"):
        longhaul.plot(finished, finished, "throughput")  # type: ignore[arg-type]


def test_words_of_other_programs_lead_somewhere(small: Path, cli: CommandLine) -> None:
    assert cli("list", "scenarios").stdout == cli("list", "examples").stdout
    assert "Did you mean 'run'?" in refusal(cli, "simulate", "a.toml")
    message = refusal(cli, "run", str(small), "--bandwidth", "5")
    assert "--set topology.dumbbell.bottleneck.rate='5 Mbps'" in message
    assert "Did you mean --rate?" in refusal(cli, "model", "path", "--bandwidth", "5")
    assert "Did you mean --out?" in refusal(cli, "report", "r1", "--output", "x.html")


def test_keys_that_are_suggested_exist(cli: CommandLine, tmp_path: Path) -> None:
    from longhaul.cli.lazy import KEYS

    (tmp_path / "a.toml").write_text(CAMPAIGN.split("[scenario]")[1].replace("scenario.", ""))
    for setting in dict.fromkeys(KEYS.values()):
        checked = cli("check", "a.toml", "--set", setting.replace("'", ""))
        assert checked.returncode == 0, checked.stderr


def test_a_scenario_file_that_is_not_there_names_the_nearest(
    cli: CommandLine, small: Path, finished: longhaul.Results
) -> None:
    missing = small.with_name(small.name.replace("s", "ss", 1))
    refused = cli("check", missing)
    assert refused.returncode == 2
    assert f"{missing}: no such file (did you mean `{small}`?)" in refused.stderr
    refused = cli("run", finished.path)
    assert "a run directory; its scenario is in" in refused.stderr


def test_words_of_campaigns_are_explained_where_one_run_is_meant(
    cli: CommandLine, small: Path, finished: longhaul.Results
) -> None:
    refused = cli("run", small, "--replications", "5")
    assert "A campaign has replications" in refused.stderr
    refused = cli("analyze", finished.path, "effects")
    assert "effects: an analysis of campaigns and tables" in refused.stderr


def test_a_new_scenario_names_itself_in_its_comments(cli: CommandLine, tmp_path: Path) -> None:
    assert cli("new", "mine.toml", "--from", "emulation").returncode == 0
    text = (tmp_path / "mine.toml").read_text()
    assert "longhaul emulate mine.toml " in text
    assert "scenarios/" not in text


def test_a_run_shows_its_tables_and_refuses_others_by_their_names(
    finished: longhaul.Results,
) -> None:
    assert "Small, 10 s; tables: flows 3, links 2, " in repr(finished)
    with pytest.raises(ResultsError, match=r"unknown table `flow` .*`flows`"):
        finished.table("flow")
