"""Collection of a study's runs from a store, adopted runs, and the page to explore them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from longhaul.campaign.responses import Response
from longhaul.campaign.sweep import Setting
from longhaul.studies import adoption, exploration
from longhaul.studies.collection import collected
from longhaul.studies.data import Data
from longhaul.studies.errors import StudyError

FACTS = {"data_packets": 9, "wall_s": 2.0, "results_version": 8, "version": "0.1"}


def run(number: int, n: int, name: str = "E") -> Any:  # noqa: ANN401
    """Return a run whose key consists of its name, level and replication."""
    return SimpleNamespace(experiment=name, cell={"n": n}, replication=number,
                           key=f"{name} {n} {number}")  # fmt: skip


def kept(n: int, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"run": FACTS, "sent": 10 * n, **more}


SAMPLES = {"flow_series": [{"t_s": 0.0, "cwnd": 2.0}, {"t_s": 1.0, "cwnd": 3.0}]}
# Stored values by experiment and key; the run of level 3 is missing.
STORED: dict[str, dict[str, Any]] = {
    "E": {"E 1 0": kept(1, **SAMPLES), "E 2 0": kept(2), "E 1 1": kept(1, **SAMPLES)},
    "F": {"F 1 0": kept(4)},
}
RUNS = [run(0, 1), run(0, 2), run(0, 3), run(1, 1), run(0, 1, "F")]


def study(*modules: str, **own: Any) -> Any:  # noqa: ANN401
    """Return a study with these modules, and these definitions in `metrics`."""
    return SimpleNamespace(
        experiments={name: SimpleNamespace(name=name) for name in STORED},
        axes=["m", "n"],
        has=lambda module: module in modules,
        module=lambda _: SimpleNamespace(**own),
        store=lambda _, experiment: STORED[experiment.name],
        metrics=lambda values, one: {"rate": values["sent"] + one.cell["n"]},
        required=lambda _, name: {"trajectory": lambda values: values["flow_series"]}[name],
    )


def test_runs_of_a_store_are_rows_with_metrics_and_costs() -> None:
    """Check that each run in the store is a row with its metrics and costs.

    Runs that are not in the store have no row. The axis `m`, which no run has, is left out.
    """
    found = collected(study(), RUNS, Path())
    assert found.axes == ("n",)
    assert found.values.columns == [
        "experiment", "n", "replication", "rate", "data_packets", "wall_s", "results_version",
    ]  # fmt: skip
    assert found.values.select("experiment", "n", "replication", "rate").rows() == [
        ("E", 1, 0, 11), ("E", 2, 0, 22), ("E", 1, 1, 11), ("F", 1, 0, 41),
    ]  # fmt: skip
    assert found.trajectories.select("experiment", "n", "replication", "cwnd").rows() == [
        ("E", 1, 0, 2.0), ("E", 1, 0, 3.0), ("E", 1, 1, 2.0), ("E", 1, 1, 3.0),
    ]  # fmt: skip


def test_a_study_may_choose_the_runs_that_are_drawn() -> None:
    chosen = study("metrics", drawn=lambda one: one.replication == 1)
    found = collected(chosen, RUNS, Path())
    assert found.trajectories["replication"].to_list() == [1, 1]
    # Without `drawn`, or without the module, trajectories of all runs with samples are kept.
    assert len(collected(study("metrics"), RUNS, Path()).trajectories) == 4
    other = study(drawn=lambda _: False)
    assert len(collected(other, RUNS, Path()).trajectories) == 4


def test_a_store_without_runs_gives_empty_tables() -> None:
    found = collected(study(), [run(0, 3)], Path())
    assert (found.values.is_empty(), found.trajectories.is_empty(), found.axes) == (True, True, ())


def finished(version: int, *, stopped: str = "", same_since: int = 6, seed: int = 1) -> Any:  # noqa: ANN401
    return SimpleNamespace(path="runs/one", stopped=stopped, meta={"results_version": version},
                           kind=SimpleNamespace(same_since=same_since),
                           scenario={"seed": seed})  # fmt: skip


@pytest.mark.parametrize(
    ("one", "message"),
    [
        (finished(6), ""), (finished(8), ""), (finished(8, same_since=8), ""),
        (finished(5), "runs/one: expected results version 6 to 8, found 5"),
        (finished(9), "runs/one: expected results version 6 to 8, found 9"),
        (finished(7, same_since=8), "runs/one: expected results version 8, found 7"),
        (finished(8, stopped="it was stopped"), "runs/one: it was stopped"),
        (finished(8, seed=2),
         "runs/one: link has no run of this scenario at scale full; `longhaul study scenario link "
         "EXPERIMENT AXIS=LEVEL` writes those that it has"),
    ],
)  # fmt: skip
def test_runs_are_adopted_that_a_study_would_have_made(
    one: Any,  # noqa: ANN401
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(adoption, "results_version", lambda: 8)
    own: Any = SimpleNamespace(name="link")
    known: Any = {'{"seed": 1}': run(0, 1)}
    if not message:
        assert adoption._checked(one, known, own, "full") == '{"seed": 1}'
        return
    with pytest.raises(StudyError) as refused:
        adoption._checked(one, known, own, "full")
    assert str(refused.value) == message


def explored(
    rows: list[dict[str, Any]], *, axes: tuple[str, ...] = ("n", "queue"), conditions: Any = None,  # noqa: ANN401
    claims: str = "", columns: tuple[str, ...] = (), scale: str = "quick",
) -> tuple[list[tuple[str, pl.DataFrame, Any]], Any]:  # fmt: skip
    """Return the tables and headings of the explorer of a study with experiments E and F."""

    def sweep(given: str) -> Any:  # noqa: ANN401
        assert given == scale
        return SimpleNamespace(
            every_cell=lambda: iter([(0, {"n": n, "queue": "red"}) for n in (1, 2, 3)])
        )

    experiments = [
        SimpleNamespace(name=name, title=f"Title {name}", columns=columns, template=None,
                        conditions=conditions or {}, sweep=sweep)
        for name in "EF"
    ]  # fmt: skip
    asked = [SimpleNamespace(question=SimpleNamespace(metric=metric), experiments=("E",))
             for metric in claims.split()]  # fmt: skip
    of: Any = SimpleNamespace(
        name="link", head=SimpleNamespace(title="Title", responses=()), claims=asked,
        chosen=lambda: experiments, has=lambda _: False,
    )  # fmt: skip
    values = pl.DataFrame(rows, infer_schema_length=None)
    record: Any = SimpleNamespace(
        data=Data(values, pl.DataFrame(), axes),
        facts=SimpleNamespace(scale=scale, runs=len(rows), wanted=6),
    )
    added: list[tuple[str, pl.DataFrame, Any]] = []
    written: list[Any] = []

    def add(content: Any, name: str, frame: pl.DataFrame, roles: Any) -> None:  # noqa: ANN401
        content.tables.append({"name": name, "rows": frame.height})
        added.append((name, frame, roles))

    def write(target: Path, content: Any, *head: Any) -> Path:  # noqa: ANN401
        written.append(([table["name"] for table in content.tables], *head))
        return target

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exploration, "add_table", add)
        patch.setattr(exploration, "write", write)
        target = exploration.write_explorer(of, record, Path("e.html"))
    assert target == (Path("e.html") if added else None)
    return added, (written or [None])[0]


def rows(name: str = "E", count: int = 2, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    own = {
        "queue": "red",
        "loss": 0.1,
        "rate": 2.0,
        "data_packets": 9,
        "wall_s": 1.0,
        "other": None,
    }
    return [{"experiment": name, "n": n + 1, "replication": 0, **own, **more} for n in range(count)]


def test_an_experiment_is_a_table_of_its_runs_to_explore() -> None:
    """Check that the explorer has a table of runs for each experiment.

    The axes are the table's factors, and the metric of most claims comes first. The costs of runs
    (packets, computing time) are left out.
    """
    [(name, frame, roles)], page = explored(rows(), claims="rate rate loss")
    assert (name, frame["cell"].to_list()) == ("E", ["1", "2"])
    assert set(frame.columns) == {"cell", "n", "replication", "queue", "loss", "rate"}
    assert (roles.label, roles.factors) == ("cell", {"n": [1, 2], "queue": ["red"]})
    assert roles.numbers == ("replication",)
    assert roles.shown == ("n", "rate", "loss")
    assert (roles.title, roles.is_partial) == ("Title E", True)
    assert roles.there == "2 of 3 runs are there"
    assert page == (["E"], "Title", ["link, quick: 2 of 6 runs"])
    assert roles.about["cell"] == "the levels of all that varies"


def test_runs_that_differ_in_nothing_are_named_by_their_replication() -> None:
    [(_, frame, roles)], _ = explored(rows(count=1) + rows(count=1, replication=1))
    assert frame["cell"].to_list() == ["replication 0", "replication 1"]
    assert roles.shown == ("loss", "rate")
    [(_, both, _)], _ = explored(rows(count=2, queue="codel") + rows())
    assert both["cell"].to_list() == ["1, codel", "2, codel", "1, red", "2, red"]


def test_an_experiment_with_all_of_its_runs_is_whole() -> None:
    [(_, _, roles)], _ = explored(rows(count=3), scale="full")
    assert (roles.is_partial, roles.there) == (False, "3 of 3 runs are there")


def test_six_metrics_are_shown_first() -> None:
    more: dict[str, Any] = {f"m{number}": 1.0 for number in range(7)}
    [(_, _, roles)], _ = explored(rows(**more), claims="m6")
    assert roles.shown == ("n", "m6", "loss", "rate", "m0", "m1", "m2")


def test_the_levels_of_a_condition_are_factors_and_its_number_a_name() -> None:
    table = {"n": {1: {"queue": "red", "k": 1}, 2: {"queue": "codel"}}}
    first, other = rows()
    given = [first, other | {"queue": "codel"}]
    [(_, _, roles)], _ = explored(given, conditions=table, columns=("queue",))
    assert (roles.numbers, roles.factors) == (("replication", "n"), {"queue": ["red", "codel"]})
    assert roles.colour == "queue"
    assert roles.about["n"] == "names a combination of levels of queue, k"
    # Without columns for its factors, the condition's number is a factor.
    [(_, _, plain)], _ = explored(rows(queue=None), conditions=table, columns=("queue",))
    assert (plain.numbers, plain.factors) == (("replication",), {"n": [1, 2]})


def test_the_first_table_has_the_most_claims_or_runs() -> None:
    both = [*rows("E", 1), *rows("F", 2)]
    assert explored(both)[1][0] == ["F", "E"]
    assert explored(both, claims="rate")[1][0] == ["E", "F"]
    assert explored([], axes=()) == ([], None)
    assert explored(rows("G")) == ([], None)


def test_columns_are_described_by_the_study_or_by_their_names() -> None:
    experiment: Any = SimpleNamespace(
        name="E", conditions={}, template={},
        varied=lambda scale: SimpleNamespace(
            settings={"topology.dumbbell.bottleneck.rate": Setting(factor="rate")}
            if scale == "full" else {}
        ),
    )  # fmt: skip

    def about(name: str, of: str) -> tuple[str, str, str] | None:
        assert of == "E"
        return {"own": ("described", "s", "Times"), "bare": ("said", "", "")}.get(name)

    def meanings(*modules: str) -> Any:  # noqa: ANN401
        responses = (Response("busy", place="links.bottleneck.utilization"),
                     Response("speed", place="goodput_bps"))  # fmt: skip
        of: Any = SimpleNamespace(
            head=SimpleNamespace(responses=responses), has=lambda module: module in modules,
            module=lambda _: SimpleNamespace(about=about),
        )  # fmt: skip
        return exploration._meanings(of, experiment, ["own", "bare", "rate", "loss_rate"])

    text, units, groups = meanings("metrics")
    assert (text["own"], text["bare"]) == ("described", "said")
    assert units == {"own": "s", "speed": "bit/s"}
    assert text["busy"].startswith("links.bottleneck.utilization: ")
    assert groups == {"own": "Times", "bare": ""}
    assert text["rate"]
    assert text["loss_rate"]
    plain, none, nothing = meanings()
    assert (none, nothing) == ({"speed": "bit/s"}, {})
    assert plain["rate"] == text["rate"]
    assert plain["own"] != "described"
