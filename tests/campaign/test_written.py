"""Texts that a campaign writes: scenarios as TOML, and lines of progress."""

import tomllib

import pytest

from longhaul.campaign import as_toml, progress
from longhaul.campaign.execute import Outcome


def test_a_scenario_is_read_back_from_its_toml() -> None:
    """TOML 1.0.0: bare keys are ASCII, all others quoted; no escape names half of a surrogate."""
    scenario = {
        "title": 'two rockets \U0001f680 and a \\ in "quotes"',
        "duration": "10 s",
        "measure": {
            "every": "1 s",
            "events": True,
            "a.b": 1.5,
            "é": 2,
            "\U0001f680": 4,
            "x-1_y": 3,
        },
        "flows": [{"label": "a", "tcp": {"sack": False}}, {"label": "b c"}],
        "über uns": {"1": []},
    }
    text = as_toml(scenario)
    assert tomllib.loads(text) == scenario
    assert "\U0001f680" in text
    assert "x-1_y = 3" in text
    assert '"é" = 2' in text


def test_a_file_gets_a_line_of_progress_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 0.0, 1.0, progress.LINE_EVERY_S, progress.LINE_EVERY_S, 1e9, 1e9])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    with progress.show_progress("sweep") as advance:
        for done in range(4):
            advance(Outcome(9, done))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "sweep: 0/9 runs", "sweep: 2/9 runs", "sweep: 3/9 runs",
    ]  # fmt: skip
