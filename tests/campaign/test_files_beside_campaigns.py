"""Paths in a scenario are relative to the file that contains the scenario, even in a campaign."""

from pathlib import Path

import pytest
from conftest import CommandLine

from longhaul.campaign.file import read_campaign

TOPOLOGY = """
backbone = [{{ name = "X", direct = 1 }}, {{ name = "Y", direct = 1 }}]
links    = [{{ from = "X", to = "Y", delay = {delay} }}]
"""
CAMPAIGN = """
responses = {{ packets = "run.data_packets" }}
{scenario}
[factors]
{factor}
"""
MESONET = """
[{table}mesonet]
intervals  = 20
hosts      = { sources = 1, scale = 1 }
network    = { topology = "near.toml", backbone_rate = 100 }
algorithms = [{ congestion = { kind = "reno" } }]
"""
THINK = 'think = { path = "mesonet.users.think", levels = [100, 200] }'
FILE = 'map = { path = "mesonet.network.topology", levels = ["near.toml", "far.toml"] }'


def written(folder: Path, factor: str, scenario: str) -> Path:
    folder.mkdir()
    (folder / "near.toml").write_text(TOPOLOGY.format(delay=5))
    (folder / "far.toml").write_text(TOPOLOGY.format(delay=50))
    file = folder / "c.toml"
    file.write_text(CAMPAIGN.format(scenario=scenario, factor=factor))
    return file


def test_a_topology_is_looked_for_beside_the_campaign(tmp_path: Path, cli: CommandLine) -> None:
    file = written(tmp_path / "folder", THINK, MESONET.replace("{table}", "scenario."))
    planned = cli("campaign", "plan", file)
    assert planned.returncode == 0, planned.stderr
    ran = cli("campaign", "run", file, "--out", "out", "--workers", "2")
    assert ran.returncode == 0, ran.stderr
    assert "2 of 2 runs done" in ran.stdout


def test_a_factor_may_be_a_file_and_runs_have_its_text(tmp_path: Path) -> None:
    campaign = read_campaign(written(tmp_path / "f", FILE, MESONET.replace("{table}", "scenario.")))
    near, far = campaign.runs()
    assert near.key != far.key
    # Workers get the same run without needing its file.
    (tmp_path / "f/near.toml").unlink()
    with pytest.raises(Exception, match=r"cannot read .*f/near\.toml"):
        _ = near.complete
    complete = far.complete
    links = complete["mesonet"]["network"]["topology"]["links"]
    assert [link["delay"] for link in links] == [50]
    from longhaul.running.loading import load

    assert load(complete).hash == far.key


def test_files_of_a_scenario_of_its_own_are_beside_it(tmp_path: Path) -> None:
    file = written(tmp_path / "maps", THINK, "")
    (tmp_path / "maps/s.toml").write_text(MESONET.replace("{table}", ""))
    campaign = tmp_path / "c.toml"
    campaign.write_text(
        file.read_text().replace("[factors]", 'scenario = "maps/s.toml"\n[factors]')
    )
    assert len(read_campaign(campaign).runs()) == 2
