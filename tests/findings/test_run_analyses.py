"""Analyses and plots of runs that have the same connections at two queue lengths."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import CommandLine

import longhaul
from longhaul.findings.runs import RUN_ANALYSES, RunAnalysisError, analyse_run
from longhaul.plots import figure

SCENARIO = Path(__file__).parents[2] / "scenarios" / "http_dumbbell.toml"
SHORT = ["duration=70 s", "measure.from=10 s", "measure.every=20 ms", "seed=3"]
SHORTER_QUEUE = 'topology.parking-lot.hops.1.queue={ kind = "droptail", limit = "20 packets" }'


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[longhaul.Results]:
    """Run a scenario as it is, with a shorter queue, and with another seed."""
    folder = tmp_path_factory.mktemp("runs")
    settings = {"long": SHORT, "short": [*SHORT, SHORTER_QUEUE], "again": [*SHORT, "seed=4"]}
    return [longhaul.run(SCENARIO, out=folder / name, set=set_) for name, set_ in settings.items()]


def rows(name: str, run: longhaul.Results, against: longhaul.Results | None = None) -> pl.DataFrame:
    (text,) = analyse_run(name, run, against)
    return pl.DataFrame(text.rows, schema=text.heads, orient="row", infer_schema_length=None)


def test_responses_are_counted_by_class_of_size(runs: list[longhaul.Results]) -> None:
    found = rows("responses", runs[0])
    begun = runs[0].exchanges.filter(pl.col("start_s") >= 10)
    assert found["began"].sum() == len(begun)
    assert found["cut short"].sum() == begun["end_s"].null_count()
    *medians, of_no_response = found.filter(pl.col("label") == "forward")["50 % (s)"].to_list()
    assert medians == sorted(medians), "larger responses take longer"
    assert of_no_response is None


def test_pairs_show_what_a_longer_queue_costs_and_saves(runs: list[longhaul.Results]) -> None:
    found = rows("paired", runs[0], runs[1]).row(0, named=True)
    both = runs[0].exchanges.join(runs[1].exchanges, on=["name", "connection"])
    both = both.filter(pl.col("start_s") >= 10).drop_nulls(["end_s", "end_s_right"])
    assert found["connections"] == len(both)
    times = both.select("start_s", "end_s", "start_s_right", "end_s_right").to_numpy()
    gained_s = (times[:, 3] - times[:, 2]) - (times[:, 1] - times[:, 0])
    assert found["mean of short - long (ms)"] == pytest.approx(1e3 * gained_s.mean())
    # Most responses are faster with the short queue; those that lose packets wait for a timeout.
    assert found["faster (%)"] > 2 * found["slower (%)"]
    assert found["median (ms)"] < 0


def test_harm_is_what_a_flow_loses_beside_another(tmp_path: Path) -> None:
    """Check harm, the fraction of its goodput that a flow loses in competition.

    Two equal flows each have half of the goodput that they have alone.
    """
    common = {
        "duration": "40 s",
        "measure": {"from": "20 s", "every": "1 s"},
        "topology": {"dumbbell": {"bottleneck": {"rate": "10 Mbps", "delay": "10 ms"}}},
    }
    flow = {"label": "a", "congestion": {"kind": "vegas"}}
    alone = longhaul.run(common | {"flows": [flow]}, out=tmp_path / "alone")
    both = common | {"flows": [flow, flow | {"label": "b", "start": "1 s"}]}
    beside = longhaul.run(both, out=tmp_path / "beside")
    found = rows("harm", beside, alone).filter(pl.col("figure") == "goodput_bps")
    assert found["label"].to_list() == ["a"]
    assert found["harm"][0] == pytest.approx(0.5, abs=0.15)
    with pytest.raises(RunAnalysisError, match="expected --against"):
        analyse_run("harm", beside)
    # A goodput of 0 cannot decrease; the error is not about missing labels.
    idle = given(labels=[{"label": "a", "goodput_bps": 0.0}])
    with pytest.raises(RunAnalysisError, match="r and r have no figure in common"):
        analyse_run("harm", idle, idle)
    with pytest.raises(RunAnalysisError, match="no label of r is in beside, which has x"):
        analyse_run("harm", idle, given(name="beside", labels=[{"label": "x"}]))


def given(
    *, name: str = "r", labels: Sequence[dict[str, object]] = (), **exchanges: list[object]
) -> Any:  # noqa: ANN401
    """Return a stand-in for a run; `labels` are rows of its summary, `exchanges` web exchanges."""
    summary = SimpleNamespace(labels=pl.DataFrame(labels))
    flows = pl.DataFrame({"name": ["w"], "label": ["web"]})
    begun = pl.DataFrame({"name": "w", "start_s": 1.0, "end_s": 2.0, **exchanges}, strict=False)
    begun = begun.with_columns(response_s=pl.col("end_s") - pl.col("start_s"))
    return SimpleNamespace(
        name=name, meta={"measured_from_s": 0.0}, flows=flows, measured_exchanges=begun,
        summary=lambda: summary, kind=SimpleNamespace(time_series=series),
    )  # fmt: skip


def series(_: object) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    yield "queue", np.arange(30.0), np.arange(30) % 2.0


def test_what_was_never_asked_for_is_in_no_class_of_size() -> None:
    run = given(response_bytes=[None, 100, 200_000, None], end_s=[None, 2.0, None, None])
    found = rows("responses", run).filter(pl.col("began") > 0)
    assert found.select("bytes", "began", "cut short").rows() == [
        ("to 1,420", 1, 0), ("above 100,000", 1, 1), ("not asked for", 2, 2)
    ]  # fmt: skip


def test_what_is_too_short_for_an_analysis_is_named() -> None:
    (text,) = analyse_run("steady", given())
    assert (text.rows, text.left_out) == (
        [], ["queue has 30 samples after its warm-up, not 40"]
    )  # fmt: skip
    (text,) = analyse_run("convergence", given(response_bytes=[*range(99)]))
    assert (text.rows, text.left_out) == ([], ["web has 99 responses, not 100"])
    (text,) = analyse_run("convergence", given(response_bytes=[*range(100)]))
    assert (len(text.rows), text.left_out) == (4, [])
    assert "range of the last 60 %" in text.heads


def test_runs_of_other_connections_are_not_paired(runs: list[longhaul.Results]) -> None:
    with pytest.raises(longhaul.LonghaulError, match="is not the same in both runs"):
        analyse_run("paired", runs[0], runs[2])
    with pytest.raises(RunAnalysisError, match="expected --against"):
        analyse_run("paired", runs[0])


def test_hurst_and_convergence_cover_the_measurement_window(runs: list[longhaul.Results]) -> None:
    found = rows("hurst", runs[0])
    assert found["series"].n_unique() == 2
    assert found["Hurst parameter"].is_between(0.4, 1.3).all()
    assert (found["to (s)"] <= 60 / 4).all()
    settled = rows("convergence", runs[0])
    forward = settled.filter(pl.col("label") == "forward")
    sizes = (
        runs[0]
        .exchanges.filter(pl.col("start_s") >= 10, pl.col("name").str.starts_with("forward"))[
            "response_bytes"
        ]
        .drop_nulls()
    )
    assert forward["responses"].unique().to_list() == [len(sizes)]
    assert forward["bytes"][-1] == pytest.approx(np.mean(sizes.to_numpy()), rel=0.05)


def test_hurst_has_the_methods_for_which_a_series_is_long_enough(
    runs: list[longhaul.Results], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that a Hurst parameter is estimated by the methods for which a series is long enough.

    R/S needs blocks of three sizes, the smallest of 16 samples; other methods need fewer samples.
    """
    random = np.random.default_rng(1)
    short = [("packets", 0.1, random.poisson(9.0, 1_615).astype(float))]
    monkeypatch.setattr("longhaul.findings.runs.counted", lambda run: short)
    [found] = analyse_run("hurst", runs[0])
    assert [row[1] for row in found.rows] == ["aggregated variance", "wavelet"]
    [left_out] = found.left_out
    assert left_out.startswith("packets: 1615 samples are too few or do not vary for R/S: expected")


def test_hurst_leaves_out_a_series_that_does_not_vary(tmp_path: Path) -> None:
    """Check that a series that does not vary gets no Hurst parameter.

    No exchange begins within this run: the series of exchanges is constant.
    """
    run = longhaul.run(
        """
duration = "100 s"
[topology.dumbbell.bottleneck]
rate = "2 Mbps"
delay = "20 ms"
[measure]
every = "50 ms"
[[flows]]
start = "1 s"
[[flows]]
label = "few"
traffic = { kind = "requests", interval = "1000 s", response = "10 kB" }
""",
        out=tmp_path / "run",
    )
    [found] = analyse_run("hurst", run)
    assert {row[0] for row in found.rows} == {"bottleneck: packets"}
    [left_out] = found.left_out
    assert left_out.startswith("exchanges: 2000 samples are too few or do not vary")


def test_an_unknown_analysis_is_refused_with_a_hint(runs: list[longhaul.Results]) -> None:
    with pytest.raises(RunAnalysisError, match=r"`hurts` of a run \(did you mean `hurst`\?\)"):
        analyse_run("hurts", runs[0])


@pytest.mark.parametrize("name", [name for name in RUN_ANALYSES if name not in ("paired", "harm")])
def test_the_command_prints_each(cli: CommandLine, runs: list[longhaul.Results], name: str) -> None:
    found = cli("analyze", runs[0].path, name, "--json")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)[name][0]["rows"]


def test_the_command_pairs_two_runs(cli: CommandLine, runs: list[longhaul.Results]) -> None:
    found = cli("analyze", runs[0].path, "paired", "--against", runs[1].path)
    assert found.returncode == 0, found.stderr
    assert "faster (%)" in found.stdout


def test_words_about_tables_are_refused(cli: CommandLine, runs: list[longhaul.Results]) -> None:
    for option in (("-r", "goodput"), ("--classes", "3")):
        found = cli("analyze", runs[0].path, "steady", *option)
        assert (found.returncode, "a run has no responses" in found.stderr) == (2, True)


def test_replications_are_one_line_with_a_band(runs: list[longhaul.Results]) -> None:
    (axes,) = figure("response-tails", runs).axes
    # The two seeds of one scenario share a line; the other queue has its own.
    assert [line.get_label() for line in axes.get_lines()] == ["long and 1 more", "short"]
    assert len(axes.collections) == 1
    shares = np.asarray(axes.get_lines()[1].get_ydata(), float)
    assert (np.diff(shares) <= 0).all()


@pytest.mark.parametrize("name", ["response-map", "hurst", "running-sizes"])
def test_plots_of_traffic_draw_what_there_is(name: str, runs: list[longhaul.Results]) -> None:
    drawn = figure(name, runs[:2])
    assert drawn.axes
    assert any(axes.get_lines() or axes.collections for axes in drawn.axes)


def test_a_run_without_responses_is_drawn_without_them(cli: CommandLine, tmp_path: Path) -> None:
    # An abandoned connection has no response.
    lines = [
        *('title = "One burst"', 'duration = "2 s"'),
        *("[topology.dumbbell.bottleneck]", 'rate = "10 Mbps"', 'delay = "5 ms"'),
        *("[[flows]]", 'label = "burst"', 'start = "1 s"'),
        'traffic = { kind = "perturbation", lifetime = "0.1 s" }',
    ]
    (tmp_path / "burst.toml").write_text("\n".join(lines))
    run = longhaul.run(tmp_path / "burst.toml", out=tmp_path / "run")
    assert run.exchanges.is_empty()
    found = cli("plot", run.path, "--out", tmp_path / "plots")
    assert found.returncode == 0, found.stderr
    assert not [path for path in (tmp_path / "plots").iterdir() if "response" in path.name]


def cells(two: list[longhaul.Results]) -> np.ndarray:
    (shown,) = figure("response-map", two).axes[0].collections
    found = shown.get_array()
    assert found is not None
    return np.ma.compressed(np.ma.masked_invalid(found))


def test_the_map_of_two_runs_is_of_their_difference(runs: list[longhaul.Results]) -> None:
    values = cells(runs[:2])
    assert len(values) > 10
    # With the shorter queue, a few responses wait seconds for a timeout, which raises the means.
    assert (values > 0).mean() > 0.5
    assert (cells([runs[0], runs[0]]) == 0).all()
