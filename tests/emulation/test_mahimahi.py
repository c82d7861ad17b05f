"""Command lines of mahimahi, which are translated to equivalent scenarios."""

import json
from pathlib import Path
from typing import Any

import pytest

from longhaul._engine import EmulationError
from longhaul.emulation.mahimahi import translate
from longhaul.running.loading import load


def _links(folder: Path, line: str) -> dict[str, dict[str, Any]]:
    """Translate a mahimahi command line, and return the scenario's link in each direction."""
    (folder / "cell.up").write_text("1\n2\n")
    (folder / "cell.down").write_text("1\n")
    text = translate(line.split()).scenario()
    scenario = load(text, beside=folder)
    (link,) = json.loads(scenario.resolved_json())["topology"]["graph"]["links"]
    return {"down": link, "up": link["reverse"]}


def test_nested_programs_are_one_path(tmp_path: Path) -> None:
    line = "mm-delay 20 mm-link cell.up cell.down --downlink-queue=codel -- curl -s http://server/"
    shells = translate(line.split())
    assert shells.command == ["curl", "-s", "http://server/"]
    links = _links(
        tmp_path,
        "mm-delay 20 mm-loss uplink 0.1 mm-delay 5 mm-link cell.up cell.down "
        "--downlink-queue=droptail --downlink-queue-args=packets=500",
    )
    down, up = links["down"], links["up"]
    assert down["delay"] == "25 ms"
    assert down["queue"]["limit"] == "500 packets"
    # The first trace is that of the uplink.
    assert len(str(up["delivery_trace"])) > len(str(down["delivery_trace"]))
    assert up["loss"] == {"bernoulli": 0.1}
    assert "loss" not in down


def test_losses_of_nested_programs_are_independent() -> None:
    shells = translate(["mm-loss", "downlink", "0.1"] * 2)
    assert shells.down.loss == pytest.approx(0.19)


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    links = _links(
        tmp_path,
        "mm-delay 12.3456789 mm-loss uplink 0.00123456789 mm-link cell.up cell.down "
        "--uplink-queue=droptail --uplink-queue-args=bytes=1234567",
    )
    assert links["down"]["delay"] == "12.3456789 ms"
    assert links["up"]["loss"] == {"bernoulli": 0.00123456789}
    assert links["up"]["queue"]["limit"] == "1234567 B"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tc qdisc", "begins with mm-link, mm-delay or mm-loss, found tc qdisc"),
        ("mm-delay soon", "mm-delay: expected a number, found soon"),
        ("mm-loss sideways 0.1", "expected uplink or downlink, found sideways"),
        ("mm-loss uplink 2", "expected a probability from 0 to 1, found 2"),
        ("mm-link cell.up", "expected UPLINK-TRACE and DOWNLINK-TRACE"),
        ("mm-link a b --uplink-queue=drophead", "--uplink-queue=drophead has no counterpart"),
        ("mm-link a b --once", "--once has no counterpart"),
        ("mm-link a b --uplink-queue=codel --uplink-queue-args=quantum=1", "quantum of"),
        ("mm-link a b mm-link c d", "mm-link: links in series have no counterpart"),
        (
            "mm-link a b --uplink-queue=droptail --uplink-queue-args=packets=100,bytes=100000",
            "expected packets or bytes in --uplink-queue-args, found packets=100,bytes=100000",
        ),
    ],
)
def test_refuses_command_lines_without_a_counterpart(line: str, message: str) -> None:
    with pytest.raises(EmulationError, match=message):
        translate(line.split())
