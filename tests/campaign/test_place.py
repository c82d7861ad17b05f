"""Line numbers of keys and values in campaign files, for messages."""

import pytest

from longhaul.campaign.place import indexed, line_of, line_of_value


def test_a_line_is_that_of_the_quoted_value_or_else_of_the_key() -> None:
    """Check the line number found for a value in a TOML array that spans several lines.

    If the array does not contain the value, the number is that of the key's line.
    """
    text = 'title = "t"\nresponses = [\n  "goodput_bps",\n  \'jain\',\n]\nseed = 1\n'
    assert line_of_value(text, "responses", "goodput_bps") == 3
    assert line_of_value(text, "responses", "jain") == 4
    assert line_of_value(text, "responses", "loss") == 2
    assert line_of_value(text, "nothing", "loss") is None


def test_lines_of_nested_arrays_are_no_headers() -> None:
    text = '[set]\nx = [  # [\n  [1, 2],\n  ["]"]\n]\ny = 3\n'
    assert line_of(text, "set.y") == 6


TEXT = """\
title = "t"
[scenario]
duration = "1 s"
topology.dumbbell.bottleneck = { rate = "1 Mbps" }

# Two groups.
[[scenario.flows]]
label = "a"
[[scenario.flows]]
"label" = 'b'
[scenario.flows.tcp]
ecn = true
[factors]
n = [1, 2]
"""


@pytest.mark.parametrize(
    ("path", "root", "line"),
    [
        ("duration", "scenario", 3),
        ("topology.dumbbell.bottleneck.rate", "scenario", 4),
        ("flows.0.label", "scenario", 8),
        ("flows.1.label", "scenario", 10),
        ("flows.1.tcp.ecn", "scenario", 12),
        ("flows.1.tcp.rto.min", "scenario", 11),
        ("flows.0.count", "scenario", 7),
        ("seed", "scenario", None),
        ("scenario.duration", "", 3),
        ("factors.n", "", 14),
        ("factors.m", "", 13),
        ("title", "", 1),
        ("duration", "", None),
        ("flows.2.label", "scenario", None),
    ],
)
def test_a_line_is_that_of_the_key_or_of_its_table(path: str, root: str, line: int | None) -> None:
    assert line_of(TEXT, path, root) == line


def test_groups_of_flows_are_numbered_in_messages() -> None:
    scenario = {"flows": [{"label": "a"}, {}, {"label": "flows"}]}
    for path, expected in (
        ("flows.a.count", "flows.0.count"),
        ("flows.flows", "flows.2"),
        ("flows.b.count", "flows.b.count"),
        ("flows", "flows"),
        ("topology.a", "topology.a"),
    ):
        assert indexed(path, scenario) == expected
    assert indexed("flows.a", {}) == "flows.a"
