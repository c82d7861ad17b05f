"""Algorithms in Python: same windows as built-in algorithms, and clear messages about errors."""

import json
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import AIMD, SMALL, CommandLine, contents

import longhaul
from longhaul import algorithm
from longhaul.congestion import Ack, Congestion, CongestionControl, Tabulated, Window, exp, log

ALGORITHMS = Path(longhaul.__file__).parent / "scenarios" / "algorithms"


class Growing(CongestionControl):
    """Standard TCP, given as a class instead of a file."""

    def __init__(self, increase: float = 1.0) -> None:
        self.increase = increase

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Grow by `increase` segments per round trip."""
        window.grow(self.increase * ack.credit / window.cwnd)


def with_python(python: str) -> str:
    """Return the small scenario with the algorithm `python` in place of HighSpeed TCP."""
    return SMALL.replace('{ kind = "hstcp" }', python)


def tables(run: longhaul.Results) -> dict[str, Any]:
    """Return the tables of a run, but leave out the column with the algorithms' names."""
    columns = {"flows": run.flows.drop("congestion"), "links": run.links}
    return columns | {"series": run.series, "events": run.events}


def same(one: longhaul.Results, other: longhaul.Results) -> bool:
    """Return true if two runs have the same tables, bit for bit."""
    others = tables(other)
    return all(table.equals(others[name]) for name, table in tables(one).items())


def test_hstcp_in_python_is_the_built_in_one_to_the_last_bit() -> None:
    built_in = SMALL.replace('{ kind = "hstcp" }', '{ kind = "hstcp", low_window = 31 }')
    file = json.dumps(f"{ALGORITHMS / 'hstcp.py'}:Hstcp")
    in_python = with_python(f"{{ python = {file}, low_window = 31 }}")
    # Large windows and random losses exercise all parts of a(w) and b(w).
    large = [
        "topology.dumbbell.bottleneck.rate=400 Mbps",
        "topology.dumbbell.bottleneck.queue.kind=red",
        "tcp.delayed_ack=true",
    ]
    for overrides in ([], large):
        expected = longhaul.run(built_in, set=overrides)
        assert expected.flows.select(pl.sum_horizontal("cuts_loss", "cuts_ecn").sum()).item() > 3
        found = longhaul.run(in_python, set=overrides)
        assert same(found, expected)


def test_the_example_scenario_runs_from_the_command_line(cli: CommandLine) -> None:
    scenario = ALGORITHMS / "hstcp_in_python.toml"
    result = cli("run", scenario, "--out", "r1", "--set", "duration=12 s", "--set",
                 "measure.from=1 s", "--json")  # fmt: skip
    assert result.returncode == 0, result.stderr
    flows = json.loads(result.stdout)["flows"]
    assert [flow["congestion"] for flow in flows] == ["hstcp", "Hstcp", "HstcpPerRound"]


def test_methods_that_a_class_lacks_are_standard_tcps(tmp_path: Path) -> None:
    (tmp_path / "aimd.py").write_text(AIMD)
    standard = longhaul.run(with_python('{ kind = "reno" }'))
    for python in ("Aimd", "PerRound"):
        scenario = tmp_path / f"{python}.toml"
        scenario.write_text(with_python(f'{{ python = "aimd.py:{python}" }}'))
        assert same(longhaul.run(scenario), standard), python


def test_parameters_and_source_reach_run_and_identity(tmp_path: Path) -> None:
    (tmp_path / "aimd.py").write_text(AIMD)
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(with_python('{ python = "aimd.py:Aimd", increase = 2.0, decrease = 0.25 }'))
    run = longhaul.run(scenario, out=tmp_path / "run")
    aimd = '{ kind = "reno", increase = 2, decrease = 0.25 }'
    assert same(run, longhaul.run(with_python(aimd)))
    # The resolved scenario contains the text, so the changed file does not matter.
    (tmp_path / "aimd.py").write_text(AIMD + "# changed\n")
    again = longhaul.run(run.scenario, out=tmp_path / "again")
    assert contents(again.path) == contents(run.path)
    changed = longhaul.load(scenario)
    assert changed.hash != run.meta["scenario_hash"]


def test_a_class_can_be_handed_over() -> None:
    aimd = '{ kind = "reno", increase = 2 }'
    expected = longhaul.run(with_python(aimd))
    named = with_python('{ python = "Growing", increase = 2 }')
    by_name = longhaul.run(named, algorithms=[Growing])
    assert same(by_name, expected)
    override = 'flows.0.congestion={python="Growing", increase=2}'
    assert same(longhaul.run(SMALL, set=[override], algorithms=[Growing]), expected)
    mapping = json.loads(json.dumps(by_name.scenario))
    mapping["flows"][0]["congestion"] = {"python": Growing, "increase": 2}
    by_value = longhaul.run(mapping)
    assert same(by_value, expected)
    assert by_value.meta["scenario_hash"] == by_name.meta["scenario_hash"]
    assert "class Growing" in by_value.scenario["flows"][0]["congestion"]["source"]


def test_two_threads_run_algorithms_in_python_side_by_side() -> None:
    begin = threading.Barrier(2)

    def run(seed: int) -> longhaul.Results:
        begin.wait()
        override = 'flows.0.congestion={python="Growing"}'
        return longhaul.run(SMALL, set=[override, f"seed={seed}"], algorithms=[Growing])

    with ThreadPoolExecutor(2) as pool:
        for seed, found in zip((1, 2), pool.map(run, (1, 2)), strict=True):
            standard = ["flows.0.congestion.kind=reno", f"seed={seed}"]
            assert same(found, longhaul.run(SMALL, set=standard)), seed


class Seen(CongestionControl):
    """Algorithm that counts its calls."""

    told: list[tuple[Any, ...]] = []  # noqa: RUF012

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Grow the window as standard TCP does."""
        self.told.append(("ack", ack.now_s, ack.acked, ack.srtt_s, ack.in_flight, ack.limit))
        window.cwnd += ack.credit / window.cwnd

    def on_round(self, ack: Ack, window: Window) -> None:
        """Record the number of the round trip."""
        self.told.append(("round", ack.round, window.in_slow_start))

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """Halve the window."""
        self.told.append(("congestion", event.cause, event.base, event.first, window.cwnd))
        super().on_congestion(event, window)


def test_an_algorithm_is_told_what_happens() -> None:
    Seen.told.clear()
    flows = ["flows.0.count=1", 'flows.0.congestion={python="Seen"}', "flows.0.start=0 s"]
    run = longhaul.run(SMALL, set=flows, algorithms=[Seen])
    (row,) = run.flows.filter(label="fast").to_dicts()
    cuts = [fact for fact in Seen.told if fact[0] == "congestion"]
    in_all = run.events.filter(name="fast-0", event="cut")
    assert len(cuts) == len(in_all) > 0
    assert (cuts[0][1], cuts[0][3]) == ("loss", True)
    assert not any(cut[3] for cut in cuts[1:])
    rounds = [fact[1] for fact in Seen.told if fact[0] == "round"]
    assert rounds == list(range(rounds[0], rounds[0] + len(rounds)))
    acks = [fact for fact in Seen.told if fact[0] == "ack"]
    assert all(0.02 < srtt < 0.2 for _, _, _, srtt, _, _ in acks)
    assert all(0 < now < 10 for _, now, *_ in acks)
    assert row["cuts_loss"] <= len(cuts)


WRONG = {
    "no such file": ("nothing.py:Aimd", "", ["cannot read", "nothing.py"]),
    "no such class": ("cc.py:Amid", AIMD, ["no class `Amid`", "Aimd, PerRound"]),
    "no such parameter": ("cc.py:Aimd", AIMD, ["increasse", "did you mean `increase`"]),
    "no algorithm": ("cc.py:Aimd", "class Aimd: pass", ["expected a subclass"]),
    "bad syntax": ("cc.py:Aimd", "x = 1\nclass Aimd(", ["cc.py:2", "SyntaxError"]),
    "a bad import": ("cc.py:Aimd", "\nimport nothing_at_all", ["cc.py:2", "ModuleNotFoundError"]),
    "nothing that grows": (
        "cc.py:Aimd",
        "import longhaul\nclass Aimd(longhaul.CongestionControl):\n    pass",
        ["expected a method on_ack or on_round"],
    ),
    "a bad constructor": (
        "cc.py:Aimd",
        AIMD.replace("self.increase = increase", "self.increase = 1 / 0"),
        ["cc.py:7", "ZeroDivisionError"],
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_used_is_refused(what: str, tmp_path: Path, cli: CommandLine) -> None:
    python, text, expected = WRONG[what]
    (tmp_path / "cc.py").write_text(text)
    extra = ", increasse = 2" if what == "no such parameter" else ""
    (tmp_path / "bad.toml").write_text(with_python(f'{{ python = "{python}"{extra} }}'))
    result = cli("run", "bad.toml")
    assert result.returncode == 2, result
    for text in ("bad.toml:14:", "flows.0.congestion.python", *expected):
        assert text in result.stderr
    assert not (tmp_path / "runs").exists()


def test_parameters_that_a_scenario_cannot_keep_are_refused(
    tmp_path: Path, cli: CommandLine
) -> None:
    (tmp_path / "cc.py").write_text(AIMD)
    table = '{ python = "cc.py:Aimd", decrease = nan, steps = [1, -inf] }'
    (tmp_path / "bad.toml").write_text(with_python(table))
    result = cli("run", "bad.toml")
    assert result.returncode == 2, result
    assert "congestion.decrease: expected a finite number, found NaN" in result.stderr
    assert "congestion.steps: expected a finite number, found -inf" in result.stderr


RAISING = {
    "raises": ("raise RuntimeError('too fast')", "RuntimeError: too fast"),
    "asks for no fact": (
        "ack.srtt",
        "AttributeError: 'longhaul.congestion.Ack' object has no attribute 'srtt'; available",
    ),
    "leaves": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "infinite": ("window.grow(float('inf'))", "ValueError: the window is not finite"),
    "beyond all paths": ("window.grow(1e308)", "ValueError: a window of 1e308 segments"),
    "reduced to infinity": (
        "window.reduce_to(float('inf'))",
        "ValueError: the window is not finite",
    ),
    "not a number": ("window.cwnd = float('nan')", "ValueError: the window is not a number"),
    "negative": ("window.cwnd = -5", "ValueError: a window of -5 segments is below 0"),
    "reduced below 0": ("window.reduce_to(-5)", "ValueError: a window of -5 segments is below 0"),
    "threshold below 0": ("window.ssthresh = -1", "ValueError: a window of -1 segments is below 0"),
    "shrunk below 0": ("window.grow(-1e6)", "ValueError: a window of -99"),
}


@pytest.mark.parametrize("what", RAISING)
def test_an_exception_ends_the_run_and_keeps_what_was_recorded(
    what: str, tmp_path: Path, cli: CommandLine
) -> None:
    statement, expected = RAISING[what]
    grow = "        window.grow(self.increase * ack.credit / window.cwnd)"
    raising = f"        if ack.now_s > 3:\n            {statement}\n{grow}"
    (tmp_path / "cc.py").write_text(AIMD.replace(grow, raising))
    (tmp_path / "late.toml").write_text(with_python('{ python = "cc.py:Aimd" }'))
    result = cli("run", "late.toml", "--out", "r1", "--quiet")
    assert result.returncode == 2, result
    for text in ("cc.py:12: ", expected, "Aimd.on_ack at 3.", "s of simulated time", "r1"):
        assert text in result.stderr
    assert "Traceback" not in result.stderr
    kept = longhaul.Results(tmp_path / "r1")
    assert kept.meta["stopped"]
    assert "stopped" in kept.warnings[-1]
    assert kept.series["t_s"].max() > 2.9  # type: ignore[operator]
    with pytest.raises(longhaul.AlgorithmError) as raised:
        longhaul.run(tmp_path / "late.toml")
    assert type(raised.value.__cause__).__name__ in expected
    # Without `out`, nothing is kept.
    assert "recorded part" not in str(raised.value)
    # The next run in this thread knows nothing of it.
    assert not longhaul.run(SMALL).meta["stopped"]


def test_an_increase_per_round_trip_that_would_leave_no_window_ends_the_run(
    tmp_path: Path, cli: CommandLine
) -> None:
    (tmp_path / "cc.py").write_text(
        "from longhaul.congestion import CongestionControl\n\n\n"
        "class Down(CongestionControl):\n"
        "    def on_round(self, ack, window):\n"
        "        return -1e6\n"
    )
    (tmp_path / "down.toml").write_text(with_python('{ python = "cc.py:Down" }'))
    result = cli("run", "down.toml", "--out", "r1", "--quiet")
    assert result.returncode == 2, result
    assert "on_round takes 1000000 segments off a window of" in result.stderr


LOOPING = AIMD.replace(
    "        window.grow(self.increase * ack.credit / window.cwnd)",
    "        while ack.now_s > 1:\n            pass\n        window.grow(1 / window.cwnd)",
)


def _looping(folder: Path, text: str = LOOPING) -> list[str]:
    (folder / "cc.py").write_text(text)
    (folder / "loops.toml").write_text(with_python('{ python = "cc.py:Aimd" }'))
    longhaul_command = str(Path(sys.executable).with_name("longhaul"))
    return [longhaul_command, "run", "loops.toml", "--out", "r1", "--quiet"]


def test_a_method_that_does_not_return_is_ended_by_the_limit(tmp_path: Path) -> None:
    command = [*_looping(tmp_path), "--limit", "1 s"]
    ended = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 2, ended
    assert "cc.py:1" in ended.stderr
    assert "has not returned when the time limit was reached (in Aimd.on_ack at 1." in ended.stderr
    assert "Traceback" not in ended.stderr
    assert longhaul.Results(tmp_path / "r1").meta["stopped"]


_GROW = "        window.grow(self.increase * ack.credit / window.cwnd)"
_ENDED = "the program is ended, and"

# The algorithm's text, the message's line and place, and its words on the fate of the run.
ENDLESS = {
    "waiting": (
        AIMD.replace(_GROW, "        import time\n        time.sleep(10**6)"),
        "cc.py:12: has not returned when the time limit was reached (in Aimd.on_ack at ",
        "the recorded part is in r1",
    ),
    "a call into C": (
        AIMD.replace(_GROW, "        sum(range(10**12))"),
        "cc.py:11: has not returned when the time limit was reached (in on_ack), nor",
        f"{_ENDED} what this run had recorded is lost",
    ),
    "the constructor": (
        AIMD.replace("        self.increase = increase", "        while True:\n            pass"),
        "has not returned when the time limit was reached (in Aimd.__init__)",
        "",
    ),
    "the constructor, into C": (
        AIMD.replace("        self.increase = increase", "        sum(range(10**12))"),
        "cc.py:7: has not returned when the time limit was reached (in __init__), nor",
        f"{_ENDED} nothing was simulated",
    ),
    "the file": (
        f"{AIMD}\nwhile True:\n    pass\n",
        "has not returned when the time limit was reached (in the file itself)",
        "",
    ),
    "the file, into C": (
        f"{AIMD}\nsum(range(10**12))\n",
        "cc.py:21: has not returned when the time limit was reached (in the file itself), nor",
        f"{_ENDED} nothing was simulated",
    ),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_whatever_does_not_return_is_ended_by_the_limit(what: str, tmp_path: Path) -> None:
    text, place, kept = ENDLESS[what]
    command = [*_looping(tmp_path, text), "--limit", "1 s"]
    ended = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 2, ended
    assert ended.stderr.startswith("error: ")
    for expected in ("cc.py:", place, kept):
        assert expected in ended.stderr
    assert "Traceback" not in ended.stderr
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"cc.py", "loops.toml"} | ({"r1"} if "recorded part" in kept else set())


def test_the_limit_of_the_library_ends_the_reading_of_a_file(tmp_path: Path) -> None:
    _looping(tmp_path, f"{AIMD}\nwhile True:\n    pass\n")
    with pytest.raises(longhaul.ScenarioError, match=r"cc\.py:.*time limit.*in the file itself"):
        longhaul.run(tmp_path / "loops.toml", limit="300 ms")
    # The next run in this thread knows nothing of it.
    assert not longhaul.run(SMALL, limit="1 min").meta["stopped"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_method_that_does_not_return_is_ended_by_signals(number: int, tmp_path: Path) -> None:
    process = subprocess.Popen(_looping(tmp_path), cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not any(path.name.startswith("r1.partial") for path in tmp_path.iterdir()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    time.sleep(1)
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "cc.py:1" in error
    assert "(in Aimd.on_ack at 1." in error
    assert "Traceback" not in error


def test_an_interruption_is_not_taken_for_a_defect(tmp_path: Path) -> None:
    class Interrupted(Growing):
        def on_congestion(self, event: Congestion, window: Window) -> None:
            raise KeyboardInterrupt

    override = 'flows.0.congestion={python="Interrupted"}'
    with pytest.raises(KeyboardInterrupt):
        longhaul.run(SMALL, out=tmp_path / "r1", set=[override], algorithms=[Interrupted])
    assert list(tmp_path.iterdir()) == []


def test_the_text_of_a_class_is_that_of_its_file_and_of_those_of_its_bases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "base_cc": "class Base(CongestionControl):\n    def on_round(self, ack, window): pass",
        "mixin_cc": "class Mixin:\n    def on_idle(self, idle_s, window): pass",
        "own_cc": "from abc import ABC\nfrom base_cc import Base\nfrom mixin_cc import Mixin\n"
        "class Other(CongestionControl):\n    def on_round(self, ack, window): pass\n"
        "class Own(Mixin, Base, Other, ABC):\n    beta = 0.9",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(f"from longhaul import CongestionControl\n{text}\n")
    monkeypatch.syspath_prepend(tmp_path)
    own = import_module("own_cc").Own
    found = algorithm.load("Own", None, None, "{}", {"Own": own})
    assert found.file == str(tmp_path / "own_cc.py")
    assert all(text in found.source for text in files.values())


def test_a_class_without_a_text_is_refused() -> None:
    names: dict[str, Any] = {"Growing": Growing}
    exec("class Nowhere(Growing):\n    def on_idle(self, idle_s, window): pass", names)
    with pytest.raises(longhaul.ScenarioError, match="write the class into a file"):
        longhaul.load(with_python('{ python = "Nowhere" }'), algorithms=[names["Nowhere"]])
    with pytest.raises(longhaul.ScenarioError, match="there are: Growing"):
        longhaul.load(with_python('{ python = "Growth" }'), algorithms=[Growing])


def test_a_table_agrees_with_its_function() -> None:
    calls = []

    def square(w: float) -> float:
        calls.append(w)
        return w * w

    table = Tabulated(square, 10, 1000)
    made = len(calls)
    for w in (10.0, 123.4, 999.0):
        # With 256 cells per octave, interpolation of a square errs by at most h^2 / 4.
        assert table(w) == pytest.approx(w * w, rel=1 / 256**2 / 4)
    assert len(calls) == made
    assert table(5.0) == 25.0
    with pytest.raises(ValueError, match="range of windows"):
        Tabulated(square, 0, 10)
    with pytest.raises(ZeroDivisionError):
        Tabulated(lambda w: w / 0, 1, 10)
    assert exp(log(2.0)) == pytest.approx(2.0)
