"""Sweeps over scenarios, stores of their results, and interrupted runs."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import SMALL

import longhaul
from longhaul._engine import ScenarioError
from longhaul.campaign import Run, Setting, Store, Sweep, execute, merge_parts
from longhaul.campaign.reduce import reduce
from longhaul.campaign.template import filled_in
from longhaul.files.writing import atomic, write_text

HOST = socket.gethostname()
TEMPLATE = tomllib.loads(SMALL.replace("10 s", "4 s"))


def sweep(**more: object) -> Sweep:
    """Return a sweep with two rates, and with the numbers of flows 1 and 2.

    `more` replaces arguments of `Sweep`.
    """
    given: dict[str, object] = {
        "axes": {"n": [1, 2], "rate": ["slow", "fast"]},
        "settings": {
            "flows.fast.count": Setting(factor="n"),
            "topology.dumbbell.bottleneck.rate": Setting(
                factor="rate", of={"slow": "5 Mbps", "fast": "20 Mbps"}
            ),
            "measure.every": Setting("200 ms"),
        },
    }
    return Sweep("E", TEMPLATE, **{**given, **more})  # type: ignore[arg-type]


def test_parts_are_laid_together() -> None:
    whole = merge_parts(
        [
            {"a": {"b": 1, "c": 2}, "flows": [{"label": "x"}]},
            {"a": {"b": 3}, "flows": [{"label": "y"}], "d": 4},
        ]
    )
    assert whole == {"a": {"b": 3, "c": 2}, "flows": [{"label": "x"}, {"label": "y"}], "d": 4}


def test_a_sweep_sets_values_in_every_combination_and_replication() -> None:
    runs = list(sweep(replications=2).runs())
    assert len(runs) == 8
    assert runs[1].cell == {"n": 1, "rate": "fast"}
    assert runs[1].scenario["topology"]["dumbbell"]["bottleneck"]["rate"] == "20 Mbps"
    assert [run.scenario["flows"][0]["count"] for run in runs[:4]] == [1, 1, 2, 2]
    assert [run.replication for run in runs] == [0] * 4 + [1] * 4
    assert len({run.resolved.hash for run in runs}) == 8
    assert TEMPLATE["flows"][0]["count"] == 2, "the template stays as it is"


def test_a_star_in_a_path_is_every_group_of_flows() -> None:
    flows = [{"label": "a", "tcp": {"ecn": True}}, {"label": "b"}]
    template = {"flows": flows, "hops": [{"queue": {}}, {"queue": {}}]}
    values = {"flows.*.tcp.window": 46, "flows.b.recovery": "reno", "hops.*.queue.limit": 92}
    assert filled_in(template, values) == {
        "flows": [
            {"label": "a", "tcp": {"ecn": True, "window": 46}},
            {"label": "b", "tcp": {"window": 46}, "recovery": "reno"},
        ],
        "hops": [{"queue": {"limit": 92}}, {"queue": {"limit": 92}}],
    }


def test_a_star_in_a_label_is_every_group_whose_label_is_like_it() -> None:
    template = {"flows": [{"label": "web-1"}, {"label": "web-2"}, {"label": "bulk"}]}
    filled = filled_in(template, {"flows.web-*.count": 3})
    assert [flow.get("count") for flow in filled["flows"]] == [3, 3, None]
    with pytest.raises(ScenarioError, match=r"no label is like `ftp-\*`; available: .*bulk"):
        filled_in(template, {"flows.ftp-*.count": 3})


def test_a_factor_of_kind_follows_the_rule_of_set() -> None:
    queue = {"kind": "droptail", "limit": "100 packets"}
    template = {
        "queue": queue,
        "congestion": {"python": "mine.py:Mine", "source": "...", "gain": 2},
    }
    changed = filled_in(template, {"queue.kind": "drr", "congestion.kind": "reno"})
    assert changed["queue"] == {"kind": "drr", "limit": "100 packets"}
    # An algorithm replaces another; keys next to its name stay, and the checker judges them.
    assert changed["congestion"] == {"kind": "reno", "gain": 2}
    merged = merge_parts([template, {"congestion": {"kind": "reno"}}])
    assert merged["congestion"] == changed["congestion"]


def test_a_multiple_of_a_level_stays_whole_and_no_flows_are_left_out() -> None:
    half = {"flows.fast.count": Setting(factor="n", times=0.5)}
    runs = list(sweep(axes={"n": [0, 6]}, settings=half).runs())
    assert [flow["label"] for flow in runs[0].scenario["flows"]] == ["standard"]
    assert runs[1].scenario["flows"][0]["count"] == 3
    assert isinstance(runs[1].scenario["flows"][0]["count"], int)


def test_a_setting_may_hold_at_some_levels_only_and_lead_into_a_value_that_others_share() -> None:
    settings = {
        "proxies": Setting(factor="split", of={"no": [], "yes": [{"start": "a"}]}),
        "proxies.0.limit": Setting(factor="n", when={"split": ["yes"]}),
    }
    runs = list(sweep(axes={"split": ["no", "yes"], "n": [1, 2]}, settings=settings).runs())
    assert [run.scenario["proxies"] for run in runs] == [
        [], [], [{"start": "a", "limit": 1}], [{"start": "a", "limit": 2}],
    ]  # fmt: skip


def test_a_label_that_is_not_there_is_refused() -> None:
    wrong = sweep(axes={}, settings={"flows.fats.count": Setting(3)})
    with pytest.raises(longhaul.ScenarioError, match=r"fats.*fast"):
        list(wrong.runs())


def test_the_store_has_whole_runs_only(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    one, other, *_ = sweep().runs()
    assert not store.has(one.resolved)
    assert store.get(one.resolved) is None
    store.put(one.resolved, {"labels": [{"label": "x"}]})
    assert store.get(one.resolved) == {"labels": [{"label": "x"}]}
    assert not store.has(other.resolved)
    with pytest.raises(TypeError):
        store.put(other.resolved, {"labels": object()})
    assert not store.has(other.resolved)
    assert len([path for path in (tmp_path / "store").rglob("*") if path.is_file()]) == 1


def test_what_a_killed_program_left_under_way_is_removed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / "under-way" / f"{HOST}-{gone.pid}-left").mkdir(parents=True)
    one, *_ = sweep().runs()
    store.put(one.key, {"run": {}})
    [kept] = tmp_path.glob("results-*/*/*.json")
    with atomic(kept) as unfinished:
        pass
    names = [
        unfinished.name.replace(f"~{HOST}~{os.getpid()}~", f"~{host}~{process}~")
        for host, process in ((HOST, gone.pid), ("another", gone.pid), (HOST, os.getpid()))
    ]
    for name in names:
        (kept.parent / name).touch()
    store.record_failure(one.key, "")
    [failure] = tmp_path.glob("failed-*/*.json")
    (failure.parent / names[0].replace(kept.name, failure.name)).touch()
    table = store.table(one.key, "series")
    table.parent.mkdir()
    (table.parent / names[0].replace(kept.name, table.name)).touch()
    with store.scratch() as mine:
        store.sweep_out()
        assert list((tmp_path / "under-way").iterdir()) == [mine]
    assert list(failure.parent.iterdir()) == [failure]
    # Files of other machines and of living processes stay.
    left = {path.name for path in kept.parent.iterdir() if path.is_file()}
    assert left == {kept.name, *names[1:]}
    store.put(one.key, {"run": {}}, {"series": b""})
    assert list(table.parent.iterdir()) == [table]


def test_two_writers_of_one_file_do_not_remove_each_others(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    with atomic(file) as one:
        one.write_text("one")
        write_text(file, "other")
        assert file.read_text() == "other"
    assert file.read_text() == "one"
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_kept_of_a_run_is_the_runs(finished: longhaul.Results) -> None:
    kept = json.loads(json.dumps(reduce(finished)))
    fast, standard = kept["labels"]
    flows = finished.flows.filter(label="fast")
    assert (fast["flows"], standard["flows"]) == (2, 1)
    assert fast["sent_pkts"] == flows["sent_pkts"].sum()
    assert fast["dropped_pkts"] == flows["dropped_pkts"].sum() > 0
    assert kept["links"][0]["name"] == "bottleneck"
    assert kept["run"]["measured_s"] == 8
    times = [row["t_s"] for row in kept["flow_series"] if row["name"] == "fast-1"]
    assert times == sorted(times)
    assert len(kept["events"]) == finished.events.height


def test_finished_runs_are_not_done_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    runs = list(sweep().runs())
    told: list[int] = []
    first = execute(runs[:2], store, workers=2, watch=lambda outcome: told.append(outcome.done))
    assert (first.total, first.found, first.finished, first.failed) == (2, 0, 2, [])
    # Longer runs would also report their progress in between.
    assert list(dict.fromkeys(told)) == [0, 1, 2]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    again = execute([*runs[:3], runs[0]], store, workers=1)
    assert (again.total, again.found, again.finished) == (3, 2, 1)
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())


KILLED = """
import sys, tomllib
from pathlib import Path
from longhaul.campaign import Setting, Store, Sweep, execute

if __name__ == "__main__":
    template = tomllib.loads(Path("template.toml").read_text())
    durations = {"duration": Setting(factor="length", of={"short": "2 s", "long": "100000 s"})}
    sweep = Sweep("E", template, {"length": ["short", "long"]}, durations)
    execute(sweep.runs(), Store("store"), workers=2)
"""


@contextmanager
def under_way(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Start a program whose first run is done, and whose long second run is in progress."""
    (folder / "template.toml").write_text(SMALL.replace("10 s", "4 s").replace("2 s", "1 s"))
    (folder / "program.py").write_text(KILLED)
    command = [sys.executable, "program.py"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            while not finished_runs(folder) or not list(folder.glob("store/under-way/*")):
                assert process.poll() is None, process.communicate()
                time.sleep(0.05)
            yield process
        finally:
            process.kill()


def finished_runs(folder: Path) -> list[Path]:
    return list(folder.rglob("store/results-*/*/*.json"))


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    with under_way(tmp_path) as process:
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert "finished runs are kept" in error
    assert len(finished_runs(tmp_path)) == 1


def test_sigkill_loses_nothing_that_is_finished(tmp_path: Path) -> None:
    with under_way(tmp_path) as process:
        kept = finished_runs(tmp_path)
        process.kill()
    assert len(kept) == 1
    assert json.loads(kept[0].read_text())["labels"]
    workers = {int(path.name.split("-")[-2]) for path in tmp_path.glob("store/under-way/*")}
    # Workers end with the program that started them, long before their simulation would.
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        time.sleep(0.05)
    Store(tmp_path / "store").sweep_out()
    assert not list(tmp_path.glob("store/under-way/*"))
    assert finished_runs(tmp_path) == kept


def test_a_run_that_fails_is_reported_and_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        "from longhaul import CongestionControl\n\n"
        "class Broken(CongestionControl):\n"
        "    def on_ack(self, window, ack):\n"
        "        raise ValueError('no')\n\n"
        "    def on_congestion(self, window, congestion):\n"
        "        pass\n"
    )
    sound, *_ = sweep().runs()
    flows = [{**flow} for flow in sound.scenario["flows"]]
    flows[0]["congestion"] = {"python": f"{tmp_path / 'broken.py'}:Broken"}
    broken = Run("E", {"n": 1}, 0, {**sound.scenario, "flows": flows})
    outcome = execute([broken, sound], Store(tmp_path / "store"), workers=1)
    assert outcome.finished == 1
    [(run, message)] = outcome.failed
    assert run is broken
    assert "no" in message
    assert outcome.done == outcome.total == 2
