"""Texts that a campaign writes: scenarios as TOML, and lines of progress."""

import sys
import tomllib

import pytest

from longhaul.campaign import as_toml, progress
from longhaul.campaign.execute import Outcome
from longhaul.campaign.sweep import Run


def test_a_scenario_is_read_back_from_its_toml() -> None:
    """Check that a scenario written as TOML is read back unchanged.

    In TOML 1.0.0, keys that are not ASCII are quoted, and characters beyond U+FFFF are not escaped
    as surrogate pairs.
    """
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
    # Values come first, then each table under its own header.
    assert [line for line in text.splitlines() if line.startswith("[")] == [
        "[measure]", '["über uns"]',
    ]  # fmt: skip
    assert text.splitlines()[1] == 'duration = "10 s"'
    assert "\n\n[measure]\nevery" in text


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


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (35.6, "89 s left"),
        (36.0, "2 min left"),
        (0.24, "1 s left"),
        (0.2, ""),
        (0.0, ""),
        (-1e-12, ""),
    ],
)
def test_a_line_of_progress_says_what_is_known(
    left: float, text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the text of a line of progress.

    Runs with an expected cost of 4 took ten seconds, so the remaining runs take 2.5 s * `left`.
    """
    monkeypatch.setattr(sys.modules[Outcome.__module__], "monotonic", lambda: 13.0)
    run = Run("e", {}, 0, {})
    with progress.show_progress("sweep") as advance:
        advance(
            Outcome(
                total=20, found=4, finished=3, failed=[(run, "no"), (run, "no")], running=2,
                running_part=0.5, elsewhere=1, data_packets=20_000_000, began=3.0,
                expected_done=4.0, expected_left=left,
            )
        )  # fmt: skip
    words = [
        "sweep: 9/20 runs", "2 running (50%)", "1 in other processes", "4 reused", "2 failed",
        "2.00 M packets/s", *([text] if text else []),
    ]  # fmt: skip
    assert capsys.readouterr().err == ", ".join(words) + "\n"


def test_nothing_is_said_of_what_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    fresh = Outcome(total=2, found=0, running=1)
    assert fresh.left_s is None
    assert Outcome(2, 0, data_packets=5).left_s is None
    with progress.show_progress("sweep") as advance:
        advance(fresh)
    assert capsys.readouterr().err == "sweep: 0/2 runs, 1 running\n"
