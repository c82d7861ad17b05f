"""Reading of a study's `experiments.toml`: content, shared settings, and refusals."""

from pathlib import Path
from typing import Any

import pytest

from longhaul._engine import LonghaulError
from longhaul.campaign.sweep import Setting
from longhaul.studies import experiments
from longhaul.studies.experiments import Experiment, read_experiments

HEAD = 'title = "Title"\nsource = "Source"\n'
SCENARIO = '[scenario]\nduration = "1 s"\nflows = [{ label = "flow" }]\n'
ONE = '[[experiments]]\nid = "E"\ntitle = "One"\n'
LOADS = 'conditions = "loads"\n'


def read(folder: Path, text: str, **files: str) -> dict[str, Experiment]:
    """Read experiments from a text; `files` are further files, with `__` for a slash in names."""
    for name, content in files.items():
        file = folder / name.replace("__", "/")
        path = file.with_suffix(".csv" if "conditions" in name else ".toml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (folder / "experiments.toml").write_text(text)
    return read_experiments(folder / "experiments.toml")[1]


def test_an_experiment_has_defaults(tmp_path: Path) -> None:
    found = read(tmp_path, HEAD + SCENARIO + ONE)["E"]
    template = {"duration": "1 s", "flows": [{"label": "flow"}]}
    assert found == Experiment("E", "One", template, {}, {}, {}, "", folder=tmp_path)
    assert (found.on_request, found.all_samples, found.conditions) == (False, False, {})
    assert (found.axes, found.columns, found.words) == ((), set(), [])
    # The default is one replication.
    for scale in experiments.SCALES:
        assert found.sweep(scale).replications == 1
        assert found.cells(scale).all == [("E", ())]


def test_an_experiment_without_scenario_is_theory(tmp_path: Path) -> None:
    """Check that an experiment without a scenario counts as theory: it has no runs and no axes."""
    found = read(tmp_path, HEAD + ONE + "replications = { full = 3 }\nfactors = { n = [1] }\n")["E"]
    assert found.template is None
    assert (len(found.sweep("full")), found.cells("full").all, found.axes) == (0, [], ())


def test_keys_of_an_experiment_are_read_and_go_before_common_ones(tmp_path: Path) -> None:
    common = """
[common]
factors      = { n = [1, 2], queue = ["red"] }
set          = { "duration" = "n", "flows.flow.count" = "n" }
replications = { quick = 2, full = 4 }
"""
    own = """quick = "a part"
on_request   = true
all_samples  = true
factors      = { n = [3], loss = { path = "loss", levels = [0.1] } }
set          = { "duration" = { value = "2 s" } }
replications = { full = 5 }
"""
    found = read(tmp_path, HEAD + SCENARIO + common + ONE + own)["E"]
    assert (found.quick, found.on_request, found.all_samples) == ("a part", True, True)
    assert found.axes == ("n", "queue", "loss")
    assert found.levels("n", "full") == [3]
    sweep = found.sweep("full")
    assert sweep.axes == {"n": [3], "queue": ["red"], "loss": [0.1]}
    assert sweep.settings == {
        "loss": Setting(factor="loss"),
        "duration": Setting(value="2 s"),
        "flows.flow.count": Setting(factor="n"),
    }
    assert [found.sweep(scale).replications for scale in experiments.SCALES] == [2, 5]
    assert [found.sweep("full", most).replications for most in (None, 1, 5, 9)] == [5, 1, 5, 5]
    assert (sweep.experiment, sweep.beside) == ("E", tmp_path)


def test_values_may_be_given_by_scale(tmp_path: Path) -> None:
    """Check values that depend on the scale (`quick`, `full`) of a study.

    A table is read as values by scale only if all its keys are scales.
    """
    by_scale = '{ quick = "1 s", full = "9 s" }'
    scenario = f"[scenario]\nduration = {by_scale}\nmeasure = [{{ every = {by_scale} }}]\n"
    own = """
[experiments.factors]
n    = { quick = [1], full = [1, 2] }
half = { levels = { quick = 1, all = 2 } }
[experiments.set]
"flows.*.count" = { quick = "n", full = { factor = "n", times = 2 } }
"""
    found = read(tmp_path, HEAD + scenario + ONE + own)["E"]
    for scale, duration, levels, times in (("quick", "1 s", [1], 1), ("full", "9 s", [1, 2], 2)):
        sweep = found.sweep(scale)
        assert sweep.template == {"duration": duration, "measure": [{"every": duration}]}
        assert sweep.axes == {"n": levels, "half": ["quick", "all"]}
        assert sweep.settings["flows.*.count"] == Setting(factor="n", times=times)
        assert len(found.cells(scale).all) == 2 * len(levels)
    assert found.cells("full") is found.cells("full")


def test_parts_of_a_scenario_follow_the_scenario_of_the_file(tmp_path: Path) -> None:
    """Check that `parts` of a scenario are merged in order, after the study's own scenario.

    Lists are extended, other values replaced.
    """
    parts = {
        "scenarios__first": 'duration = "2 s"\nflows = [{ label = "first" }]\n',
        "scenarios__second": 'duration = "3 s"\n',
    }
    own = 'parts = ["first", "second"]\n'
    found = read(tmp_path, HEAD + SCENARIO + ONE + own, **parts)["E"]
    flows = [{"label": "flow"}, {"label": "first"}]
    assert found.template == {"duration": "3 s", "flows": flows}
    alone = read(tmp_path, HEAD + ONE + own)["E"]
    assert alone.template == {"duration": "3 s", "flows": flows[1:]}


def test_included_experiments_come_last_and_have_files_of_their_own(tmp_path: Path) -> None:
    text = f'{HEAD}include = ["web", "bulk"]\n{ONE}parts = ["a"]\n'
    part = '[[experiments]]\nid = "{}"\ntitle = "More"\nparts = ["a"]\n'
    files = {
        "scenarios__a": "seed = 1\n", "web__scenarios__a": "seed = 2\n",
        "web__experiments": part.format("W"), "bulk__experiments": part.format("B"),
    }  # fmt: skip
    found = read(tmp_path, text, **files)
    seeds = [(name, one.template and one.template["seed"]) for name, one in found.items()]
    assert seeds == [("E", 1), ("W", 2), ("B", 1)]
    assert [one.folder for one in found.values()] == [
        tmp_path, tmp_path / "web", tmp_path / "bulk"
    ]  # fmt: skip
    head = read_experiments(tmp_path / "experiments.toml")[0]
    assert (head.title, head.source, head.includes) == ("Title", "Source", ("web", "bulk"))
    assert head.responses == ()


def test_a_table_of_conditions_is_an_axis(tmp_path: Path) -> None:
    """Check that a table of conditions is an axis, whose levels are in the table's first column.

    Levels that can be read as numbers are numbers.
    """
    table = "load,how,share\n1,late,0.5\n2.5,early,1\nall-on,late,2\n"
    found = read(tmp_path, HEAD + SCENARIO + ONE + LOADS, conditions__loads=table)["E"]
    assert found.conditions == {
        "load": {
            1: {"how": "late", "share": 0.5}, 2.5: {"how": "early", "share": 1},
            "all-on": {"how": "late", "share": 2},
        }
    }  # fmt: skip
    assert (found.axes, found.columns, found.words) == (("load",), {"how", "share"}, ["how"])
    assert found.levels("load", "quick") == [1, 2.5, "all-on"]
    some = read(tmp_path, HEAD + SCENARIO + ONE + LOADS + "factors = { load = [2.5] }\n")["E"]
    cells = some.cells("full")
    assert cells.all == [("E", (("load", 2.5),))]
    # Words select levels of the factors that follow from a condition, too.
    assert list(cells.selected({"how": "early", "share": 1})) == cells.all
    assert list(cells.selected({"how": "late"})) == []


def test_conditions_may_differ_between_replications(tmp_path: Path) -> None:
    """Check that a condition may set another value of a factor in each replication.

    Claims cannot select by such a factor, because it has several values under one condition.
    """
    table = "load,replication,how,who\n1,0,late,a\n1,1,early,a\n2,0,late,b\n"
    common = "[common]\n" + LOADS
    found = read(tmp_path, HEAD + SCENARIO + common + ONE, conditions__loads=table)["E"]
    assert found.conditions == {
        "load": {
            1: {"how": ("late", "early"), "who": ("a", "a")}, 2: {"how": ("late",), "who": ("b",)},
        }
    }  # fmt: skip
    assert (found.columns, found.words) == ({"how", "who"}, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "experiments.toml: missing 'title'"), ('title = "a"\n', "missing 'source'"),
        (HEAD, "experiments.toml: missing 'experiments'"), ("title = ", "experiments.toml: "),
        (HEAD + ONE + ONE + ONE.replace("E", "F"), "experiments.toml: experiments given twice: E"),
        (HEAD + "titel = 1\n" + ONE, "titel: unknown (did you mean `title`?)"),
        (HEAD + ONE + "name = 1\n", "experiments.toml: E: name: unknown"),
        (HEAD + ONE.replace('title = "One"', ""), "missing 'title'"),
        (HEAD + "[[experiments]]\ntitle = 'a'\n", "missing 'id'"),
        (HEAD + ONE + "axes = {}\n", "experiments.toml: E: axes: now called `factors`"),
        (HEAD + "[common]\naxes = {}\n" + ONE, "E: common.axes: now called `factors`"),
        (HEAD + "[common]\nparts = []\n" + ONE, "E: common.parts: unknown"),
        (HEAD + ONE + "factors = { n = { level = [1] } }\n", "E: factors.n.level: unknown"),
        (HEAD + ONE + 'set = { "a" = "n" }\n', 'E: set."a": unknown factor `n`'),
        (HEAD + SCENARIO + ONE + LOADS + "factors = { load = [1, 4] }\n", "E: unknown load `4`"),
        (HEAD + SCENARIO + ONE + LOADS + "factors = { load = { quick = [1], full = [2, 4] } }\n",
         "E: unknown load `4`"),
        ("scenario = 3\n" + HEAD + ONE, "scenario: expected a scenario file's name, or a table"),
    ],
)  # fmt: skip
def test_what_is_no_study_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(LonghaulError) as refused:
        read(tmp_path, text, conditions__loads="load,n\n1,2\n2,3\n")
    assert message in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path / "experiments.toml"))


@pytest.mark.parametrize(
    ("part", "message"),
    [("[[experiments", "Expected"), (ONE.replace('id = "E"', ""), "missing 'id'"),
     ("scenarios = {}", "scenarios: unknown")],
)  # fmt: skip
def test_errors_in_an_included_file_name_this_file(part: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(LonghaulError) as refused:
        read(tmp_path, HEAD + 'include = ["web"]\n' + ONE, web__experiments=part)
    assert str(refused.value).startswith(f"{tmp_path / 'web/experiments.toml'}: {message}")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("load,replication,n\n1,1,2\n", "load 1: expected replications 0, 1 and so on"),
        ("load,replication,n\n1,0,2\n1,2,2\n", "load 1: expected replications 0, 1 and so on"),
        ("load,replication,n\n1,0,2\n2,1,2\n", "load 2: expected replications 0, 1 and so on"),
        ("load,n\n1\n", "loads.csv:2: expected 2 columns"),
        ("load,n\n", "loads.csv: expected rows of conditions"),
        ("", "loads.csv: expected rows of conditions"),
    ],
)
def test_what_is_no_table_of_conditions_is_refused(
    table: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(LonghaulError) as refused:
        read(tmp_path, HEAD + SCENARIO + ONE + LOADS, conditions__loads=table)
    assert message in str(refused.value)
    assert str(tmp_path / "conditions/loads.csv") in str(refused.value)


@pytest.mark.parametrize(
    ("cell", "level"),
    [("3", 3), ("-2", -2), ("3.0", 3.0), ("1e-3", 1e-3), ("3 s", "3 s"), ("", ""), ("inf", None)],
)
def test_cells_of_conditions_are_numbers_where_they_can_be(cell: str, level: Any) -> None:  # noqa: ANN401
    found = experiments._level(cell)
    expected = float("inf") if level is None else level
    assert (found, type(found)) == (expected, type(expected))
