"""Studies of installed distributions, which are found through their entry points."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from longhaul.cli import app
from longhaul.studies import study as study_module
from longhaul.studies.errors import StudyError
from longhaul.studies.study import find, studies

DECLARED = """
title     = "A link"
source    = "no publication: a test"
responses = { rate = "all.goodput_bps" }
[scenario]
duration = "1 s"
topology = { dumbbell = { bottleneck = { rate = "1 Mbps", delay = "10 ms" } } }
flows    = [{ label = "flow" }]
[[experiments]]
id    = "alone"
title = "One flow"
"""


def test_studies_of_another_distribution_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "own_studies" / "one_link"
    folder.mkdir(parents=True)
    (tmp_path / "own_studies" / "__init__.py").write_text("")
    (folder / "experiments.toml").write_text(DECLARED)
    metadata = tmp_path / "own_studies-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: own-studies\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[longhaul.studies]\nown = own_studies\n")
    before = {each.name for each in studies()}
    monkeypatch.syspath_prepend(tmp_path)
    assert {each.name for each in studies()} == before | {"one-link"}
    assert find("one-link").path == folder
    assert find("one-link").head.title == "A link"


def test_without_studies_the_message_says_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_module, "entry_points", lambda group: [])
    with pytest.raises(StudyError, match=r"unknown study `hstcp-2003`: no studies are installed; .*"
                                         r"pip install \./reproductions"):  # fmt: skip
        find("hstcp-2003")
    listed = CliRunner().invoke(app, ["study", "list"])
    assert listed.exit_code == 2
    assert "no studies are installed" in listed.output
