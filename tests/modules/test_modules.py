"""Congestion control modules of Linux: built by the compiler, and run in simulations."""

import json
import platform
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import CommandLine

import longhaul
from longhaul import modules
from longhaul.evaluation.contenders import contender
from longhaul.models import windows
from longhaul.modules import building
from longhaul.running.loading import load

HERE = Path(__file__).parent
SAWTOOTH = HERE.parents[1] / "examples" / "tcp_sawtooth.c"

if shutil.which("cc") is None or sys.platform == "win32":
    pytest.skip("no C compiler", allow_module_level=True)


@pytest.fixture(scope="module")
def sawtooth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the object file of the kernel module `examples/tcp_sawtooth.c`."""
    return modules.build([SAWTOOTH], tmp_path_factory.mktemp("objects") / "sawtooth.so").object


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the object file of a module that checks its arguments."""
    target = tmp_path_factory.mktemp("objects") / "recorder.so"
    return modules.build([HERE / "tcp_recorder.c"], target).object


def _scenario(*flows: dict[str, Any], **more: object) -> dict[str, Any]:
    bottleneck = {"rate": "10 Mbps", "delay": "20 ms"}
    return {
        "profile": "linux",
        "duration": "20 s",
        "measure": {"events": True, "every": "100 ms"},
        "topology": {"dumbbell": {"bottleneck": bottleneck}},
        "flows": [{"congestion": flow} for flow in flows],
        **more,
    }


def _written(tmp_path: Path, lines: str) -> Path:
    source = tmp_path / "tcp_mine.c"
    source.write_text("#include <linux/module.h>\n#include <net/tcp.h>\n" + lines)
    return source


@pytest.mark.parametrize("tcp", [{}, {"initial_ssthresh": 20}])
def test_standard_tcp_of_a_module_is_ours(sawtooth: Path, tcp: dict[str, Any]) -> None:
    """Check that a module of standard TCP sends the same packets as `reno` of linux-6.18."""
    standard = {"kind": "reno", "variant": "linux-6.18"}
    ours = longhaul.run(_scenario(standard, tcp=tcp))
    module = longhaul.run(_scenario({"module": str(sawtooth), "gentle": False}, tcp=tcp))
    names = ["name", "label", "bundle", "congestion"]
    assert ours.flows.drop(names).equals(module.flows.drop(names))
    assert ours.events.drop("name").equals(module.events.drop("name"))
    assert ours.flows["cuts_loss"][0] > 1


@pytest.mark.parametrize("profile", ["linux", "rfc", "ns2-2.35"])
def test_a_module_starts_without_a_threshold(sawtooth: Path, profile: str) -> None:
    """Check that a module's first slow-start threshold is Linux's TCP_INFINITE_SSTHRESH."""
    flow = {"module": str(sawtooth)}
    resolved = json.loads(load(_scenario(flow, profile=profile)).resolved_json())
    assert resolved["flows"][0]["tcp"]["initial_ssthresh"] == 0x7FFF_FFFF


@pytest.mark.parametrize("gentle", [False, True])
def test_the_decrease_follows_from_the_parameters(sawtooth: Path, *, gentle: bool) -> None:
    """Check that a reduction of a window of w leaves w (1024 - decrease) / 1024 segments."""
    flow = {"module": str(sawtooth), "decrease": 256, "gentle": gentle}
    scenario = _scenario(flow)
    # At 100 Mbit/s, random losses come before a queue builds up.
    bottleneck = {"rate": "100 Mbps", "delay": "20 ms", "loss": {"bernoulli": 1e-3}}
    scenario["topology"]["dumbbell"]["bottleneck"] = bottleneck
    events = longhaul.run(scenario).events
    events = events.filter(pl.col("event") == "cut", pl.col("cwnd_before_pkts") < 330)
    kept = [int(cwnd) * 768 // 1024 for cwnd in events["cwnd_before_pkts"]]
    if gentle:
        before = events["cwnd_before_pkts"]
        kept = [(left + int(cwnd)) // 2 for left, cwnd in zip(kept, before, strict=True)]
    assert events["cwnd_after_pkts"].to_list() == kept
    assert len(kept) > 10


def test_a_run_repeats_byte_for_byte(sawtooth: Path, tmp_path: Path) -> None:
    """Check that two runs of a module have the same files."""
    scenario = _scenario({"module": str(sawtooth)}, {"module": str(sawtooth), "increase": 3})
    for name in ("a", "b"):
        longhaul.run(scenario, out=tmp_path / name)
    for file in sorted((tmp_path / "a").glob("*.parquet")):
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes(), file.name


def test_flows_with_different_parameters_do_not_meet(sawtooth: Path) -> None:
    """Check that flows with different parameters do not influence each other.

    Parameters are variables of the object file, of which each entry of `flows` has its own copy.
    """
    pair = [{"module": str(sawtooth), "increase": 1}, {"module": str(sawtooth), "increase": 8}]
    links = {"topology": {"dumbbell": {"bottleneck": {"rate": "10 Mbps", "delay": "20 ms"}}}}
    together = longhaul.run(_scenario(*pair, **links))
    swapped = longhaul.run(_scenario(*reversed(pair), **links))
    slow, fast = together.flows["goodput_bps"]
    assert fast > 1.5 * slow
    assert swapped.flows["goodput_bps"][0] > 1.5 * swapped.flows["goodput_bps"][1]


def test_threads_do_not_meet(sawtooth: Path) -> None:
    """Check that simultaneous runs in several threads have the same results as single runs.

    Some of the threads run the same scenario.
    """
    scenarios = [
        _scenario({"module": str(sawtooth), "increase": number % 3 + 1}) for number in range(6)
    ]
    alone = [longhaul.run(scenario).flows for scenario in scenarios[:3]]
    found: list[Any] = [None] * len(scenarios)

    def run(number: int) -> None:
        found[number] = longhaul.run(scenarios[number]).flows

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(scenarios))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, flows in enumerate(found):
        assert flows.equals(alone[number % 3])


def test_a_module_that_controls_everything_paces(recorder: Path) -> None:
    """Check that flows send at the pacing rate that a module sets."""
    flow = {"congestion": {"module": str(recorder), "rate": 125_000}, "count": 2}
    scenario = _scenario() | {"flows": [flow]}
    first, second = longhaul.run(scenario).flows["goodput_bps"]
    assert first == pytest.approx(1e6, rel=0.02)
    # The second connection has twice the rate, since connections share the file's variable.
    assert second == pytest.approx(2e6, rel=0.02)
    # The module traps if its functions are called in an order that the kernel does not use.
    scenario["topology"]["dumbbell"]["bottleneck"]["loss"] = {"bernoulli": 0.02}
    lossy = longhaul.run(scenario)
    assert (lossy.flows["cuts_loss"] > 5).all()


def test_the_first_ten_segments_are_not_paced(recorder: Path) -> None:
    """Check that the first ten segments leave at once; paced, they would take over a second."""
    scenario = _scenario({"module": str(recorder), "rate": 12_500}, duration="1 s")
    scenario["flows"][0]["trace_acks"] = True
    acks = longhaul.run(scenario).acks
    assert acks.filter(pl.col("quantity") == "in_flight")["value"][0] == 10


LISTENER = """
static u32 acks, missed;
static u32 mine_ssthresh(struct sock *sk) { return tcp_sk(sk)->snd_ssthresh; }
static void mine_acked(struct sock *sk, const struct ack_sample *sample)
{
	if (acks++ && sk->sk_pacing_rate == ~0UL)
		missed = 1;
}
static void mine_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START && acks && !tcp_sk(sk)->app_limited)
		missed = 1;
}
static void mine_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp_snd_cwnd_set(tcp_sk(sk), missed ? 3 : 20);
}
static struct tcp_congestion_ops mine = {
	.ssthresh = mine_ssthresh, .cong_avoid = mine_avoid, .undo_cwnd = tcp_reno_undo_cwnd,
	.pkts_acked = mine_acked, .cwnd_event = mine_event, .name = "mine",
};
static int mine_register(void) { return tcp_register_congestion_control(&mine); }
module_init(mine_register);
"""


def test_a_connection_has_a_rate_and_is_limited_by_a_silent_application(tmp_path: Path) -> None:
    """Check that a module can read the pacing rate and `app_limited` of a flow without pacing.

    The kernel sets both. If one is missing, the module's window is 3 segments instead of 20.
    """
    module = modules.build([_written(tmp_path, LISTENER)], tmp_path / "mine.so").object
    scenario = _scenario({"module": str(module)})
    traffic = {"kind": "on-off", "on": "1 s", "off": "1 s", "message": "20 kB", "rate": "2 Mbps"}
    scenario["flows"][0]["traffic"] = traffic
    series = longhaul.run(scenario).series.filter(pl.col("cwnd_pkts").is_not_null())
    assert series["cwnd_pkts"][-1] == 20


def test_the_hash_is_that_of_the_object_and_not_of_its_place(
    sawtooth: Path, tmp_path: Path
) -> None:
    """Check that the scenario's hash depends on the content of the object file, not on its path."""

    def hashed(file: str | Path) -> str:
        return longhaul.load(_scenario({"module": str(file)})).hash

    copy = shutil.copy(sawtooth, tmp_path / "sawtooth.so")
    assert hashed(copy) == hashed(sawtooth)
    rebuilt = tmp_path / "again"
    rebuilt.mkdir()
    modules.build([SAWTOOTH], rebuilt / "sawtooth.so", hz=1000)
    assert hashed(rebuilt / "sawtooth.so") != hashed(sawtooth)


def test_a_resolved_scenario_refuses_another_object(sawtooth: Path, tmp_path: Path) -> None:
    """Check that a scenario recorded with one object file is not repeated with another."""
    place = tmp_path / "tcp_x.so"
    shutil.copy(sawtooth, place)
    results = longhaul.run(_scenario({"module": str(place)}, duration="1 s"))
    resolved = results.scenario
    modules.build([SAWTOOTH], place, hz=1000)
    with pytest.raises(longhaul.ScenarioError, match="another file than that of this scenario"):
        longhaul.load(resolved)


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ({"incraese": 2}, r"unknown parameter `incraese` \(did you mean `increase`\?\)"),
        ({"increase": 1 << 31}, "expected `increase` to be a whole number from -2147483648"),
        ({"increase": 0.5}, r"a whole number .* \(int\), found 0.5"),
        ({"gentle": 2}, "expected `gentle` to be true or false, found 2"),
        ({"decrease": -1}, r"from 0 to 4294967295 \(uint\), found -1"),
        ({"increase": 0}, "its module_init returned error -22"),
        ({"increase": "2"}, "expected a number, true or false"),
        ({"kind": "reno"}, "a module of Linux has no kind"),
        ({"increase": 1, "parameters": {"increase": 2}}, "it is given twice"),
        ({"parameters": {"window": 2}}, "unknown parameter `window`"),
    ],
)
def test_bad_parameters_are_refused(sawtooth: Path, flow: dict[str, Any], message: str) -> None:
    """Check that wrong parameters are refused before the run, naming the allowed values."""
    with pytest.raises(longhaul.ScenarioError, match=message):
        longhaul.load(_scenario({"module": str(sawtooth), **flow}))


def test_an_object_for_another_processor_is_refused(sawtooth: Path, tmp_path: Path) -> None:
    """Check the message on an object file for another processor.

    The header of an ELF file names the processor; glibc's message would be that there is no such
    file.
    """
    contents = bytearray(sawtooth.read_bytes())
    if contents[:4] != b"\x7fELF":
        pytest.skip("no ELF files here")
    number, name = (62, "x86_64") if platform.machine() == "aarch64" else (183, "aarch64")
    contents[18:20] = number.to_bytes(2, "little")
    place = tmp_path / "x.so"
    place.write_bytes(contents)
    with pytest.raises(longhaul.ScenarioError, match=f"another processor, {name} .*build it here"):
        longhaul.load(_scenario({"module": str(place)}))


def test_files_that_are_no_modules_are_refused(tmp_path: Path) -> None:
    """Check that a missing file, a text and a foreign shared object are refused."""
    place = tmp_path / "x.so"
    with pytest.raises(longhaul.ScenarioError, match=r"cannot read .*x\.so"):
        longhaul.load(_scenario({"module": str(place)}))
    place.write_text("no object")
    with pytest.raises(longhaul.ScenarioError, match="not for this processor or system"):
        longhaul.load(_scenario({"module": str(place)}))
    (tmp_path / "x.c").write_text("int nothing;\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", place, tmp_path / "x.c"], check=True)
    with pytest.raises(longhaul.ScenarioError, match="no module that `longhaul module build`"):
        longhaul.load(_scenario({"module": str(place)}))


def test_an_object_of_other_headers_is_to_be_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that an object file made with other headers is refused with advice to build it again.

    An object file contains the version of the headers.
    """
    headers = shutil.copytree(building.KERNEL, tmp_path / "kernel")
    interface = headers / "interface.h"
    now = re.search(r"LONGHAUL_INTERFACE (\d+)", interface.read_text())
    assert now is not None
    newer = int(now[1]) + 1
    interface.write_text(interface.read_text().replace(now[0], f"LONGHAUL_INTERFACE {newer}"))
    monkeypatch.setattr(building, "KERNEL", headers)
    message = rf"version {newer} of the headers, this is version {now[1]}; build it again"
    with pytest.raises(modules.ModuleBuildError, match=message):
        modules.build([SAWTOOTH], tmp_path / "x.so")


OPERATIONS = """
static u32 mine_ssthresh(struct sock *sk) { return 2; }
static struct tcp_congestion_ops %(name)s = {
	.ssthresh = mine_ssthresh, .cong_avoid = tcp_reno_cong_avoid, .undo_cwnd = tcp_reno_undo_cwnd,
	.name = "%(name)s",
};
static int register_%(name)s(void) { return tcp_register_congestion_control(&%(name)s); }
module_init(register_%(name)s);
"""


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("int f(struct sock *sk) { return skb_shine(sk); }", r"tcp_mine\.c:3: `skb_shine` is not"),
        ("int f(struct sock *sk) { return skb_shine(sk); }", r"include/linux/skbuff\.h"),
        ("int f(void) { return kthread_stop(0); }", r"`kthread_stop` is not .* the kernel's\. "),
        ("int f(struct sock *sk) { return sk->icsk_x; }", r"`icsk_x` .*inet_connection_sock\.h"),
        ("int f(struct sock *sk) { return tcp_sk(sk)->w; }", r"struct tcp_sock, include/linux/tcp"),
        ("int x = TCP_SHINE;", r"`TCP_SHINE` is not in the headers .* include/net/tcp\.h"),
        ("int f(void) {", r"tcp_mine\.c:\d: expected"),
        ("extern int tcp_vegas_x(void); int f(void) { return tcp_vegas_x(); }", "tcp_vegas.c, too"),
        ("static int x; module_param(x, ulong, 0);", "module_param: x is not of type ulong"),
        ("", "it registers no congestion control"),
    ],
)
def test_a_module_that_does_not_build_says_why(tmp_path: Path, lines: str, message: str) -> None:
    """Check the message if a module cannot be built.

    For an unknown name, the message has the line of the source, and the kernel header in which the
    name would be declared.
    """
    with pytest.raises(modules.ModuleBuildError, match=message):
        modules.build([_written(tmp_path, lines + "\n")], tmp_path / "x.so")
    assert not (tmp_path / "x.so").exists()


def test_one_of_several_is_chosen(tmp_path: Path) -> None:
    """Check that a file with two congestion controls is refused unless one is named."""
    lines = OPERATIONS % {"name": "first"} + OPERATIONS.replace("mine_", "other_") % {
        "name": "second"
    }
    source = _written(tmp_path, lines)
    with pytest.raises(
        modules.ModuleBuildError, match=r"first and second: choose one .* --name first"
    ):
        modules.build([source], tmp_path / "x.so")
    assert modules.build([source], tmp_path / "x.so", name="second").name == "second"
    with pytest.raises(modules.ModuleBuildError, match="it registers first and second: choose one"):
        modules.build([source], tmp_path / "x.so", name="third")
    with pytest.raises(
        modules.ModuleBuildError, match="registers no third, only sawtooth: expected --name"
    ):
        modules.build([SAWTOOTH], tmp_path / "x.so", name="third")


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the message if there is no compiler: it says how to get one."""
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(modules.ModuleBuildError, match="no C compiler `no-such-compiler`: install"):
        modules.build([SAWTOOTH], tmp_path / "x.so")


def test_the_check_finds_what_ends_a_process(tmp_path: Path) -> None:
    """Check that `modules.check` reports a division by zero and an access out of bounds."""
    faults = {
        "return 2 / (tcp_sk(sk)->snd_cwnd_cnt);": "division by zero",
        "return ((u32 *)inet_csk_ca(sk))[tcp_sk(sk)->snd_cwnd + 300];": r"overflow|out of bounds",
    }
    for fault, message in faults.items():
        source = _written(tmp_path, (OPERATIONS % {"name": "mine"}).replace("return 2;", fault))
        with pytest.raises(modules.ModuleBuildError, match=message):
            modules.check([source])
    assert "9 connections" in modules.check([SAWTOOTH])


def test_the_command_builds_and_describes(cli: CommandLine, tmp_path: Path) -> None:
    """Check that `module build` describes the module that it compiled."""
    target = tmp_path / "saw.so"
    told = cli("module", "build", str(SAWTOOTH), "--out", str(target)).stdout
    for part in ("sawtooth", "hooks: cong_avoid, pkts_acked", "decrease", "512"):
        assert part in told


def test_modules_are_evaluated_and_their_windows_plotted(sawtooth: Path) -> None:
    assert contender(str(sawtooth)).table == {"module": str(sawtooth.resolve())}
    given = f'{{ module = "{sawtooth}", increase = 2 }}'
    assert contender(given).table["increase"] == 2
    experiment = windows.Experiment(loss_every=10_000, rounds=200)
    (found,) = windows.trajectories([str(sawtooth)], experiment, ["increase=2"])
    assert found.figures()["cuts"] > 2
