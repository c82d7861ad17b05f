"""Windows round by round without a network, from Python and from the command line."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import AIMD, CommandLine

import longhaul
from longhaul.models.windows import Experiment, trajectories


def test_renos_saw_tooth_is_what_one_computes_by_hand() -> None:
    # Four segments are in flight, and each ACK adds 1 / cwnd.
    (reno,) = trajectories(["reno"], Experiment(loss_every=12, rounds=4, cwnd=4))
    windows = reno.rounds["cwnd_pkts"].to_list()
    assert windows[:2] == pytest.approx([4, 4.9206383], abs=1e-7)
    # Segment 12 is the fourth of round trip 3: three ACKs precede the halving, one follows.
    assert reno.rounds["sent_pkts"].to_list()[:3] == [4, 4, 5]
    assert reno.rounds["congestion"].to_list() == [False, False, True, False]
    before_loss = windows[2]
    for _ in range(3):
        before_loss += 1 / before_loss
    halved = before_loss / 2
    assert windows[3] == pytest.approx(halved + 1 / halved)


def test_the_mean_window_is_the_response_functions() -> None:
    # A sawtooth from W/2 to W has 3/8 W^2 segments: 600 give 20 to 40, and a mean of sqrt(900).
    (reno,) = trajectories(["reno"], Experiment(loss_every=600, rounds=400, cwnd=20))
    figures = reno.figures()
    assert figures["response_pkts"] == pytest.approx(30)
    assert figures["cwnd_mean_pkts"] == pytest.approx(30, rel=0.03)
    assert figures["cwnd_min_pkts"] == pytest.approx(20, abs=1.5)
    assert figures["cwnd_max_pkts"] == pytest.approx(40, abs=1.5)


def test_parameters_go_to_the_algorithms_that_have_them() -> None:
    experiment = Experiment(loss=1e-3, rounds=100)
    plain = trajectories(["reno", "hstcp"], experiment)
    given = trajectories(["reno", "hstcp"], experiment, ["low_window=20"])
    assert given[0].rounds.equals(plain[0].rounds)
    assert not given[1].rounds.equals(plain[1].rounds)


def test_an_algorithm_in_python_is_drawn_beside_a_built_in_one(
    tmp_path: Path, cli: CommandLine
) -> None:
    (tmp_path / "cc.py").write_text(AIMD)
    words = ["reno", "cc.py:Aimd", "--loss-every", "500", "--rounds", "120"]
    result = cli("plot", "window", *words, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    built_in, own = json.loads(result.stdout)
    assert own["cwnd_pkts"] == built_in["cwnd_pkts"]
    assert (own["name"], len(own["cwnd_pkts"])) == ("Aimd", 120)
    assert [path.name for path in tmp_path.iterdir()] == ["cc.py"]


@pytest.mark.parametrize("suffix", ["svg", "png", "html"])
def test_a_picture_is_written_in_each_format(suffix: str, tmp_path: Path, cli: CommandLine) -> None:
    out = tmp_path / f"teeth.{suffix}"
    result = cli("plot", "window", "reno", "hstcp", "--loss", "1e-3", "--out", out)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    assert "response function" in result.stdout
    if suffix == "png":
        assert out.read_bytes().startswith(b"\x89PNG")
    elif suffix == "svg":
        assert ElementTree.parse(out).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    else:
        assert out.read_text().count("<svg") == 1
    again = cli("plot", "window", "reno", "--loss", "1e-3", "--out", out)
    assert again.returncode == 2
    assert "--overwrite" in again.stderr


def test_without_a_name_the_picture_is_called_after_the_algorithms(
    tmp_path: Path, cli: CommandLine
) -> None:
    assert cli("plot", "window", "reno", "cubic", "--loss-every", "1000").returncode == 0
    assert (tmp_path / "window-reno-cubic.svg").exists()


REFUSED = {
    "no loss": (["reno"], ["--loss-every", "--loss"]),
    "both losses": (["reno", "--loss", "0.1", "--loss-every", "9"], ["either"]),
    "an unknown algorithm": (["rneo", "--loss", "0.1"], ["rneo", "did you mean `reno`"]),
    "an unknown parameter": (
        ["hstcp", "--loss", "0.1", "--set", "low_windwo=9"],
        ["low_windwo", "did you mean `low_window`"],
    ),
    "an impossible value": (["reno", "--loss", "0.1", "--set", "decrease=2"], ["decrease"]),
    "no unit": (["reno", "--loss", "0.1", "--rtt", "100"], ["100", "ms"]),
    "an impossible loss": (["reno", "--loss", "2"], ["probability"]),
    "no picture": (["reno", "--loss", "0.1", "--out", "x.gif"], ["x.gif", ".svg"]),
    "one twice": (["reno", "reno", "--loss", "0.1"], ["twice"]),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_drawn_is_refused(what: str, tmp_path: Path, cli: CommandLine) -> None:
    words, expected = REFUSED[what]
    result = cli("plot", "window", *words)
    assert result.returncode == 2, result
    for text in expected:
        assert text in result.stderr, result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_exception_names_file_and_line(tmp_path: Path, cli: CommandLine) -> None:
    (tmp_path / "cc.py").write_text(AIMD.replace("ack.credit", "ack.credits"))
    result = cli("plot", "window", "cc.py:Aimd", "--loss", "1e-2")
    assert result.returncode == 2
    assert "cc.py:11: AttributeError" in result.stderr
    with pytest.raises(longhaul.AlgorithmError):
        trajectories([f"{tmp_path}/cc.py:Aimd"], Experiment(loss=1e-2))
