"""Modules of a study: required definitions, reduction of runs, and paths of studies."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from longhaul.campaign.reduce import reduce, reduce_keeping_samples
from longhaul.studies import parts, study
from longhaul.studies.errors import StudyError, unknown
from longhaul.studies.registry import Registry
from longhaul.studies.study import OwnReducer, Study

HEAD = 'title  = "Title"\nsource = "Source"\n'
RESPONSES = 'responses = { utilisation = "links.bottleneck.utilization" }\n'
SCENARIO = """[scenario]
duration = "2 s"
topology = { dumbbell = { bottleneck = { rate = "10 Mbps", delay = "5 ms" } } }
flows    = [{ label = "flow" }]
"""
ONE = '[[experiments]]\nid = "E"\ntitle = "One"\n'
CLAIM = """
[[claims]]
id         = "C"
experiment = "E"
measure    = "value"
statement  = "It is so."
source     = "p. 1"
where      = { metric = "utilisation" }
low        = 0
"""


def link(folder: Path, text: str = HEAD + RESPONSES + SCENARIO + ONE, **modules: str) -> Study:
    """Write a study with one experiment, a claim and these modules, and return it."""
    (folder / "experiments.toml").write_text(text)
    (folder / "claims.toml").write_text(CLAIM)
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code)
    return Study("link", folder)


METRICS = "def metrics(kept, run):\n    return {'a': kept['b']}\n"


def test_a_study_may_have_modules_and_a_readme(tmp_path: Path) -> None:
    of = link(tmp_path, metrics=METRICS, measures="MEASURES = {'own': len}\n")
    assert [of.has(name) for name in ("metrics", "measures", "figures")] == [True, True, False]
    assert of.required("metrics", "metrics")({"b": 3}, None) == {"a": 3}
    assert of.metrics({"b": 4}, SimpleNamespace()) == {"a": 4}  # type: ignore[arg-type]
    assert of.measures == {"own": len}
    assert (of.readme, of.recorded) == ("", tmp_path / "results")
    (tmp_path / "README.md").write_text("# Title\n")
    assert of.readme == "# Title\n"
    assert of.folders == [tmp_path]
    with pytest.raises(StudyError) as refused:
        of.required("metrics", "trajectory")
    expected = f"{tmp_path / 'metrics.py'}: expected a definition of `trajectory`, found none"
    assert str(refused.value) == expected
    with pytest.raises(StudyError) as missing:
        of.module("figures")
    assert (
        str(missing.value) == f"{tmp_path / 'figures.py'}: expected a file of the study, found none"
    )


def test_studies_in_different_directories_have_modules_of_their_own(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "link").mkdir(parents=True)
        (tmp_path / name / "link/metrics.py").write_text(f"NAME = '{name}'\n")
    found = [Study("link", tmp_path / name / "link").module("metrics").NAME for name in "ab"]
    assert found == ["a", "b"]


def test_declared_responses_are_the_metrics_of_a_study_without_a_module(tmp_path: Path) -> None:
    kept = {"links": [{"name": "bottleneck", "utilization": 0.5}], "measured": {}}
    of: Any = SimpleNamespace()
    assert link(tmp_path).metrics(kept, of) == {"utilisation": 0.5}
    own = link(tmp_path, metrics=METRICS)
    assert own.metrics({"b": 1}, of) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "modules", "message"),
    [
        (HEAD + RESPONSES + SCENARIO + ONE, {}, ""),
        (HEAD + SCENARIO + ONE, {"metrics": METRICS}, ""),
        (HEAD + SCENARIO + ONE, {}, "metrics.py: expected a file of the study, found none"),
        (HEAD + SCENARIO + ONE, {"metrics": ""}, "metrics.py: expected a definition of `metrics`"),
        (HEAD + RESPONSES + SCENARIO + ONE, {"figures": ""},
         "figures.py: expected a definition of `FIGURES`"),
        (HEAD + RESPONSES + SCENARIO + ONE, {"measures": ""},
         "measures.py: expected a definition of `MEASURES`"),
        (HEAD + RESPONSES + SCENARIO + ONE, {"reduce": ""},
         "reduce.py: expected a definition of `reduce`"),
        (HEAD + RESPONSES + SCENARIO + ONE, {"reduce": "def reduce(run):\n    return {}\n"}, ""),
    ],
)  # fmt: skip
def test_a_study_that_lacks_a_part_is_refused(
    text: str, modules: dict[str, str], message: str, tmp_path: Path
) -> None:
    of = link(tmp_path, text, **modules)
    if not message:
        of.check()
        return
    with pytest.raises(StudyError) as refused:
        of.check()
    assert str(refused.value).startswith(f"{tmp_path}/{message}")


def test_claims_and_figures_are_checked_with_the_study(tmp_path: Path) -> None:
    of = link(tmp_path)
    parts.check(of)
    assert list(parts.figures(of)) == []
    (tmp_path / "claims.toml").write_text(CLAIM.replace('"utilisation"', '"a", n = 1'))
    with pytest.raises(StudyError) as refused:
        parts.check(Study("link", tmp_path))
    assert str(refused.value).startswith(f"{tmp_path}: claim C: where: E has no axis `n`")
    (tmp_path / "claims.toml").write_text(CLAIM.replace('"utilisation"', '"a", whole = "n"'))
    with pytest.raises(StudyError, match=r"claim C: where: E has no axis `n`"):
        parts.check(Study("link", tmp_path))
    (tmp_path / "measures.py").write_text("MEASURES = {'value': lambda data, **where: 1.0}\n")
    for old, new in (('"E"', '"Z"'), ('"E"', '"E Z"'), ('"utilisation"', '"a", of = "Z"')):
        (tmp_path / "claims.toml").write_text(CLAIM.replace(old, new))
        with pytest.raises(StudyError, match="claim C: no experiment is called `Z`"):
            parts.check(Study("link", tmp_path))


def test_responses_that_no_run_can_have_are_refused(tmp_path: Path) -> None:
    text = HEAD + RESPONSES.replace("bottleneck", "botleneck") + SCENARIO + ONE
    with pytest.raises(StudyError) as refused:
        parts.check(link(tmp_path, text))
    assert str(refused.value).startswith(f"{tmp_path}: E: ")
    assert "botleneck" in str(refused.value)
    theory = HEAD + RESPONSES.replace("bottleneck", "botleneck") + ONE
    parts.check(link(tmp_path, theory))


def test_declared_figures_precede_those_in_python(tmp_path: Path) -> None:
    of = link(tmp_path, figures="FIGURES = ['own']\n")
    declared: list[Any] = list(parts.figures(of))
    assert declared == ["own"]
    (tmp_path / "figures.toml").write_text(
        '[[figures]]\nnumber = "1"\ntitle = "T"\nexperiments = ["E"]\naxis = "n"\nx = "n"\n'
        'y = "y"\nlines = []\n'
    )
    declared = list(parts.figures(of))
    assert [declared[0].number, *declared[1:]] == ["1", "own"]


def test_a_run_is_reduced_by_the_study_or_by_its_responses(tmp_path: Path) -> None:
    """Check which function of a study reduces its runs to stored values.

    Values of different functions are stored as different variants.
    """
    plain, sampled = (link(tmp_path, f"{HEAD}{SCENARIO}{ONE}{more}", metrics=METRICS)
                      for more in ("", "all_samples = true\n"))  # fmt: skip
    (tmp_path / "experiments.toml").write_text(HEAD + SCENARIO + ONE)
    usual = plain.reduction(plain.experiments["E"])
    assert (usual.variant, usual.reducer) == ("", reduce)
    (tmp_path / "experiments.toml").write_text(HEAD + SCENARIO + ONE + "all_samples = true\n")
    every = sampled.reduction(sampled.experiments["E"])
    assert (every.variant, every.reducer) == ("all-samples", reduce_keeping_samples)
    assert sampled.store(tmp_path / "s", sampled.experiments["E"]).variant == "all-samples"
    # With a module `metrics`, values of responses are not stored.
    (tmp_path / "experiments.toml").write_text(HEAD + RESPONSES + SCENARIO + ONE)
    both = Study("link", tmp_path)
    assert both.reduction(both.experiments["E"]).variant == ""
    (tmp_path / "metrics.py").unlink()
    declared = Study("link", tmp_path)
    assert declared.reduction(declared.experiments["E"]).variant.startswith("responses")
    (tmp_path / "reduce.py").write_text("def reduce(run):\n    return {'of': run}\n")
    own = declared.reduction(declared.experiments["E"])
    assert len(own.variant) == 8
    assert own.reducer == OwnReducer("link", tmp_path, "reduce")
    run: Any = "run"
    assert own.reducer(run) == {"of": "run"}
    assert study._reducer(tmp_path, tmp_path / "web") == "web.reduce"


def test_documentation_of_a_reducer_does_not_change_the_store(tmp_path: Path) -> None:
    """Check that runs are stored under a new variant if the code of `reduce.py` changes.

    The variant stays the same if only docstrings and comments change.
    """

    def variant(code: str) -> str:
        of = link(tmp_path, reduce=code)
        return of.reduction(of.experiments["E"]).variant

    plain = variant("def reduce(run):\n    return {'of': run}\n")
    documentation = '"""Reducer."""\n\n\ndef reduce(run):\n    """Return."""\n    # The run.\n'
    assert variant(f"{documentation}    return {{'of': run}}\n") == plain
    assert variant("def reduce(run):\n    return {'if': run}\n") != plain
    assert variant("def reduce(run):\n    if run:\n        return {'of': run}\n") != plain


def test_studies_are_found_by_name_or_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: dict[str, Path] = {"hstcp-2003": Path("installed")}
    monkeypatch.setattr(study, "_installed", lambda: installed)
    assert study.find("hstcp-2003") == Study("hstcp-2003", Path("installed"))
    assert study.studies() == [Study("hstcp-2003", Path("installed"))]
    (tmp_path / "experiments.toml").touch()
    assert study.find(str(tmp_path)) == Study(tmp_path.name, tmp_path.resolve())
    monkeypatch.chdir(tmp_path)
    assert study.find(".") == Study(tmp_path.name, tmp_path.resolve())
    (tmp_path / "empty").mkdir()
    for name, message in (
        (str(tmp_path / "empty"), "expected a study's folder with experiments.toml, found none"),
        ("hstcp-203", "no study is called `hstcp-203` (did you mean `hstcp-2003`?)"),
    ):
        with pytest.raises(StudyError) as refused:
            study.find(name)
        assert message in str(refused.value)
    installed.clear()
    with pytest.raises(StudyError, match="unknown study `hstcp-2003`: no studies are installed"):
        study.find("hstcp-2003")


def test_unknown_names_are_answered_with_the_nearest_or_a_command() -> None:
    known = [f"name-{number}" for number in range(9)]
    assert "did you mean `quick`" in str(unknown("scale", "quik", ("quick", "full")))
    assert str(unknown("name", "xyz", known, "longhaul list")).endswith(
        "no name is called `xyz`; `longhaul list` shows all 9"
    )


def test_functions_are_registered_under_their_names() -> None:
    known: Registry[Any] = Registry()

    @known.register
    def own() -> int:
        return 1

    assert known == {"own": own}
    assert own() == 1
