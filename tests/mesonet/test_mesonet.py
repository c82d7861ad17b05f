"""A small run of MesoNet: its tables, figures and export agree with each other."""

import json
from io import StringIO
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from conftest import MESONET_NETWORK, CommandLine
from matplotlib.text import Annotation
from rich.console import Console

import longhaul
from longhaul import plots
from longhaul.mesonet import Interval, MesoNet, Summary, flow_matrix, responses_of
from longhaul.mesonet.export import export
from longhaul.mesonet.summary import access_capacity, utilisation

SMALL = (
    """
title = "Small MesoNet"

[mesonet]
intervals = 100
periods = [{ name = "early", from = 0, to = 0.5 }, { name = "late", from = 0.5, to = 1 }]
algorithms = [{ share = 0.5 }, { congestion = { kind = "hstcp" }, share = 0.5 }]
long_lived = [{ from = "X1a", to = "Z1a", start = "5 s", algorithm = "hstcp" }]
"""
    + MESONET_NETWORK
    + """\
[mesonet.measure]
flow_log = true
batch = 50
backbone_link = "X-Y"
pop = 1
access = "X1a"
trace = { flows = ["L1"], sources = [7, "0-2"], from = "5 s", until = "7 s" }
"""
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Results:
    """Run the small scenario once, for tests that only read the results."""
    return longhaul.run(SMALL, out=tmp_path_factory.mktemp("mesonet") / "m1")


def test_active_flows_are_in_one_of_three_states(run: longhaul.Results) -> None:
    for table in (MesoNet.of(run).network, MesoNet.of(run).classes):
        states = pl.sum_horizontal(
            "initial_slow_start_flows", "normal_mode_flows", "above_threshold_flows"
        )
        rest = table.select(pl.col("active_flows") - states).to_series()
        assert rest.abs().sum() == 0
    assert MesoNet.of(run).network["active_flows"].sum() > 0


def test_classes_and_long_lived_flows_are_the_network(run: longhaul.Results) -> None:
    classes = (
        MesoNet.of(run)
        .classes.group_by("interval", maintain_order=True)
        .agg(pl.col("completed_flows", "out_pkts").sum())
    )
    long_lived = MesoNet.of(run).long_lived["out_pkts"]
    network = MesoNet.of(run).network
    assert classes["completed_flows"].to_list() == network["completed_flows"].to_list()
    # Packets that arrive after the end of their flow count in no class.
    late = network["out_pkts"] - classes["out_pkts"] - long_lived
    assert (late >= 0).all()
    assert float(late.sum()) < 0.01 * float(network["out_pkts"].sum())
    assert network["out_pkts"].sum() == run.meta["mesonet"]["delivered_packets"]


def test_what_arrives_at_a_router_leaves_it_is_dropped_or_waits(run: longhaul.Results) -> None:
    sums = MesoNet.of(run).routers.group_by("router").agg(pl.selectors.ends_with("_pkts").sum())
    last = MesoNet.of(run).routers.group_by("router").agg(pl.selectors.starts_with("queue_").last())
    both = sums.join(last, on="router", suffix="_last").fill_null(0)
    for side in ("up", "down"):
        arrived = both[f"arrived_{side}_pkts"]
        left = both[f"forwarded_{side}_pkts"] + both[f"dropped_{side}_pkts"]
        assert (arrived - left - both[f"queue_{side}_pkts_last"]).abs().sum() == 0
    assert sums["dropped_down_pkts"].sum() > 0


def test_the_log_the_totals_and_the_batches_count_the_same_flows(run: longhaul.Results) -> None:
    tables = MesoNet.of(run)
    completed = tables.flows.filter(pl.col("connected_s").is_not_null())
    counts = dict(completed.group_by("class").len().iter_rows())
    totals = dict(tables.totals.select("class", "completed_flows").iter_rows())
    assert {name: counts.get(name, 0) for name in totals} == totals
    assert tables.goodput["flows"].sum() == len(completed)
    mean = completed.group_by("class").agg(pl.col("goodput_pps").mean()).sort("class")
    wanted = tables.totals.filter(pl.col("completed_flows") > 0).sort("class")
    assert mean["goodput_pps"].to_list() == pytest.approx(wanted["goodput_mean_pps"].to_list())
    # No flow is faster than its host, and none sends less than its file.
    assert (completed["goodput_pps"] <= 80_000).all()
    assert (completed["sent_pkts"] >= completed["size_pkts"]).all()


def test_figures_are_means_over_the_periods(run: longhaul.Results) -> None:
    summary = Summary.of(run)
    assert summary.network["period"].to_list() == ["early", "late"]
    early = MesoNet.of(run).network.head(50)
    assert summary.network["active_flows"][0] == pytest.approx(early["active_flows"].mean())
    lost = 1 - float(early["out_pkts"].sum()) / float(early["in_pkts"].sum())
    assert summary.network["loss_rate"][0] == pytest.approx(lost)
    late = summary.long_lived.filter(pl.col("period") == "late")["throughput_pps"].item()
    # A normal access router forwards 2 packets a millisecond.
    assert 0 < late <= 2000
    assert run.as_json()["network"] == summary.as_dict()["network"]


@pytest.mark.parametrize(("step", "full_rate_s"), [("0.5 ms", 0.2), ("1 ms", 0.4)])
def test_rates_of_interfaces_are_in_packets_per_step(step: str, full_rate_s: float) -> None:
    """Check the time until a flow has the rate of its interface: two intervals of 200 steps."""
    flow = '{ from = "X1a", to = "Z1a", rate = 0.2 }'
    settings = [f"mesonet.step={step!r}", f"mesonet.long_lived=[{flow}]",
                "mesonet.hosts.sources=0", "mesonet.measure.trace.sources=[]"]  # fmt: skip
    summary = Summary.of(longhaul.run(SMALL, set=settings))
    assert summary.long_lived["full_rate_s"].to_list() == [full_rate_s, 0.0]


def mean(column: pl.Series) -> float:
    return float(column.cast(pl.Float64).to_numpy().mean())


def test_responses_are_those_of_the_study_by_their_numbers(run: longhaul.Results) -> None:
    tables = MesoNet.of(run)
    table = responses_of(run)
    names = [f"y{n}" for n in range(1, 46)]
    of_run = [f"T.y{n}" for n in range(1, 29)]
    for period in ("early", "late"):
        assert table.filter(pl.col("period") == period)["response"].to_list() == names
    assert table.filter(pl.col("period") == "run")["response"].to_list() == of_run
    value = {(row["response"], row["period"]): row["value"] for row in table.to_dicts()}
    late = tables.periods[1].of(tables.network)
    classes = tables.periods[1].of(tables.classes).filter(pl.col("class") == "NN")
    routers = tables.periods[1].of(tables.routers)
    # Round trips of X-Y-X, X-Z-X and Y-Z-Y: see MESONET_NETWORK.
    round_trip_ms = 1e3 * run.meta["mesonet"]["mean_round_trip_s"]
    srtt_ms = 1e3 * mean(late["srtt_mean_s"])
    assert value["y2", "late"] == pytest.approx(mean(late["growth_mean_pkts"]))
    assert value["y8", "late"] == pytest.approx(srtt_ms - round_trip_ms)
    flows = (
        classes["connecting_flows"] + classes["active_flows"] + classes["completed_flows"] / 2
    ).to_numpy()
    pps = classes["out_pkts"].to_numpy() / tables.interval_s
    assert value["y29", "late"] == pytest.approx((pps / flows).mean())
    assert value["y32", "late"] == pytest.approx((pps / flows).mean() * flows.mean())
    direct = tables.topology.filter(pl.col("class") == "direct")["router"].to_list()
    for at in range(6):
        expected = None
        if at < len(direct):
            expected = mean(routers.filter(pl.col("router") == direct[at])["queue_share"])
        assert value[f"y{36 + at}", "late"] == pytest.approx(expected)
    states = sum(value[f"y{n}", "late"] for n in (43, 44, 45))
    assert value["y1", "late"] == pytest.approx(states)
    assert value["T.y1", "run"] == run.meta["data_packets"]
    assert value["T.y4", "run"] == sum(value[f"T.y{n}", "run"] for n in range(6, 17, 2))
    of_backbone = [value[f"T.y{18 + at}", "run"] for at in range(11)]
    # Each flow has two ends, below different backbone routers.
    assert sum(filter(None, of_backbone)) == 2 * value["T.y4", "run"] > 0


def test_responses_of_chapter_4_have_other_numbers(run: longhaul.Results) -> None:
    table = responses_of(run, chapter=4)
    assert table["response"].unique(maintain_order=True).to_list() == [
        f"y{n}" for n in range(1, 23)
    ]
    early = {
        row["response"]: row["value"]
        for row in table.filter(pl.col("period") == "early").to_dicts()
    }
    tables = MesoNet.of(run)
    network = tables.periods[0].of(tables.network)
    sources = float(tables.topology["sources"].sum())
    assert early["y2"] == pytest.approx(mean(network["active_flows"]) / sources)
    lost = 1 - mean(network["out_pkts"]) / mean(network["in_pkts"])
    assert early["y5"] == pytest.approx(lost)
    assert early["y16"] == pytest.approx(
        mean(network["srtt_mean_s"]) / run.meta["mesonet"]["mean_round_trip_s"]
    )


def test_a_network_without_users_has_a_summary(cli: CommandLine, tmp_path: Path) -> None:
    periods = 'mesonet.periods=[{name="all", from=0, to=1}]'
    out = tmp_path / "dumbbell"
    cli("new", str(tmp_path / "mine.toml"), "--from", "mesonet_dumbbell")
    shown = cli(
        "run", str(tmp_path / "mine.toml"), "--out", str(out),
        "--set", "mesonet.intervals=50", "--set", periods,
    ).stdout  # fmt: skip
    assert "active flows" in shown
    values = {
        row["response"]: row["value"]
        for row in responses_of(longhaul.Results(out), chapter=4).to_dicts()
    }
    assert values["y2"] is None
    assert values["y3"] > 0


def test_responses_are_listed(cli: CommandLine) -> None:
    listed = cli("list", "responses").stdout
    for name in ("y36 (chapters 6, 7)", "T.y28 (chapters 6, 7)", "y16 (chapter 4)"):
        assert name in listed


def test_functions_measure_what_the_tables_hold(run: longhaul.Results, tmp_path: Path) -> None:
    def ends(interval: Interval) -> dict[str, float]:
        return {"t": interval.t_s, "out": interval.out_pkts / interval.length_s}

    def queues(interval: Interval) -> dict[str, float]:
        routers = interval.backbone | interval.pops | interval.access
        waiting = sum(one["queue_up_pkts"] + one["queue_down_pkts"] for one in routers.values())
        cwnd = interval.long_lived["L1"]["cwnd_pkts"]
        flows = sum(one["active_flows"] for one in interval.classes.values())
        return {
            "waiting": waiting,
            "cwnd": cwnd,
            "flows": flows,
            "entered": interval.links["X-Y"],
            "syns": interval.edges["X1a"]["syns"],
        }

    measured = MesoNet.of(longhaul.run(SMALL, out=tmp_path / "own", measures=[ends, queues]))
    own, network = measured.measures, MesoNet.of(run).network
    assert own["t_s"].to_list() == own["t"].to_list() == network["t_s"].to_list()
    assert (own["out"] * 0.2).to_list() == pytest.approx(network["out_pkts"].to_list())
    long_lived = MesoNet.of(run).long_lived
    assert own["cwnd"].to_list() == long_lived["cwnd_pkts"].to_list()
    active = own["flows"] + (long_lived["mode"] != "none")
    assert active.to_list() == network["active_flows"].to_list()
    waiting = (
        MesoNet.of(run)
        .routers.group_by("interval", maintain_order=True)
        .agg(pl.col("queue_up_pkts", "queue_down_pkts").sum())
    )
    both = waiting["queue_up_pkts"] + waiting["queue_down_pkts"]
    assert own["waiting"].to_list() == both.to_list()
    edge = MesoNet.of(run).edges.filter(pl.col("router") == "X1a")
    assert own["syns"].to_list() == edge["syns"].to_list()
    link = MesoNet.of(run).backbone_links.filter(pl.col("link") == "X-Y")
    assert own["entered"].to_list() == link["entered_pkts"].to_list()


def test_the_flow_matrix_has_the_packets_that_access_routers_accepted(tmp_path: Path) -> None:
    """Check the flow matrix against the trace of packets that access routers accepted.

    The matrix is computed by a function that is called in each interval.
    """
    from longhaul.mesonet.matrix import COLUMNS, counts

    found: list[pl.DataFrame] = []
    window_changes = 0

    def count(interval: Interval) -> dict[str, float]:
        nonlocal window_changes
        window_changes += interval.flow_events["event"].count("increase")
        events = interval.packets["event"]
        found.append(pl.DataFrame(interval.packets))
        return {name: float(events.count(name)) for name in ("sent", "dropped", "delivered")}

    run = longhaul.run(
        SMALL,
        out=tmp_path / "matrix",
        measures=[count],
        set=[
            "mesonet.intervals=10",
            "mesonet.periods=[]",
            "mesonet.long_lived=[]",
            'mesonet.measure.trace={ sources = ["0-199"] }',
        ],
    )
    tables = MesoNet.of(run)
    topology = tables.topology
    sources = int(topology["sources"].sum())
    assert sources == 200
    matrix = flow_matrix(run)
    points = dict.fromkeys(matrix["observation_point"])
    # Observation points are the points of presence and the direct access routers.
    assert set(points) == {
        *topology.filter(pl.col("tier") == "pop")["router"],
        *topology.filter(pl.col("class") == "direct")["router"],
    }
    access = topology.filter(pl.col("tier") == "access")["router"]
    assert len(matrix) == len(points) * len(access) * 10
    # The matrix counts every packet that an access router accepted from its hosts.
    taken = tables.routers.filter(pl.col("tier") == "access").select(
        pl.col("arrived_up_pkts").sum() - pl.col("dropped_up_pkts").sum()
    )
    assert matrix["packets"].sum() == taken.item() > 1000
    one_by_one = pl.concat(found)
    measured = counts(one_by_one, topology, tables.interval_s)
    some = matrix.filter(pl.col("packets") > 0)
    assert measured.sort(COLUMNS).equals(some.sort(COLUMNS))
    assert tables.measures["sent"].sum() == (tables.packet_trace["event"] == "sent").sum()
    assert window_changes == (tables.flow_trace["event"] == "increase").sum() > 100


def test_a_function_that_raises_ends_the_run(tmp_path: Path) -> None:
    def breaks(interval: Interval) -> dict[str, float]:
        return {"x": 1 / (interval.number - 3)}

    def changes(interval: Interval) -> dict[str, float]:
        return {f"x{interval.number}": 1.0}

    with pytest.raises(ZeroDivisionError):
        longhaul.run(SMALL, out=tmp_path / "breaks", measures=[breaks])
    with pytest.raises(ValueError, match="`x2` is measured in interval 2, but not in the first"):
        longhaul.run(SMALL, out=tmp_path / "changes", measures=[changes])
    # The recorded intervals are kept, in a run that states the error.
    for name, error in (("breaks", "ZeroDivisionError"), ("changes", "ValueError")):
        run = longhaul.Results(tmp_path / name)
        assert run.meta["stopped_by"] == error
        assert MesoNet.of(run).network.height >= 2
        # Neither of the periods was completed.
        assert responses_of(run).filter(pl.col("period") != "run")["value"].is_null().all()


def test_utilisation_is_that_of_the_published_example() -> None:
    # 105, 28 and 6 access routers forward 200, 400 and 2000 packets per ms.
    speeds = [200e3] * 105 + [400e3] * 28 + [2000e3] * 6
    topology = pl.DataFrame({"tier": "access", "capacity_pps": speeds}).vstack(
        pl.DataFrame({"tier": ["pop"], "capacity_pps": [1e9]})
    )
    capacity_pps = access_capacity(topology)
    assert capacity_pps * 0.2 == pytest.approx(8.84e6)
    out = pl.DataFrame({"out_pps": [8.15e5 / 0.2]})
    used = out.select(utilisation(pl.col("out_pps"), capacity_pps)).item()
    assert used == pytest.approx(0.184, abs=5e-4)


def test_the_same_scenario_leaves_the_same_tables(run: longhaul.Results, tmp_path: Path) -> None:
    again = longhaul.run(SMALL, out=tmp_path / "m2")
    for table in run.tables:
        name = f"{table}.parquet"
        assert (run.path / name).read_bytes() == (again.path / name).read_bytes(), table


def test_a_run_without_a_table_says_why(tmp_path: Path) -> None:
    few = longhaul.run(SMALL, out=tmp_path / "few", set=['mesonet.measure.tables=["network"]'])
    assert set(few.tables) == {
        "network",
        "flows",
        "flow_trace",
        "packet_trace",
        "totals",
        "topology",
    }
    with pytest.raises(longhaul.ResultsError, match=r"measure\.tables"):
        _ = MesoNet.of(few).routers
    assert "active flows" in _printed(few)
    classes = ['mesonet.measure.tables=["classes"]', "mesonet.intervals=20"]
    other = _printed(longhaul.run(SMALL, out=tmp_path / "other", set=classes))
    assert "active flows" not in other
    assert len(next(line for line in other.splitlines() if line.startswith(" NN")).split()) == 3


def _printed(*runs: longhaul.Results) -> str:
    text = StringIO()
    Console(file=text, width=200).print(longhaul.compare(runs))
    return text.getvalue()


def test_runs_of_two_kinds_have_no_table_in_common(
    run: longhaul.Results, finished: longhaul.Results, tmp_path: Path
) -> None:
    assert "L1" in _printed(run, run)
    with pytest.raises(longhaul.ResultsError, match="no figures in common"):
        longhaul.compare([run, finished])
    for runs in ([run, finished], [finished, run]):
        with pytest.raises(longhaul.ResultsError, match="no figures in common"):
            longhaul.report(runs, tmp_path / "both.html")
    with pytest.raises(longhaul.ResultsError, match="no plot `cwnd`"):
        longhaul.plot(run, "cwnd")
    with pytest.raises(longhaul.ResultsError, match="not a run of MesoNet"):
        _ = MesoNet.of(finished)


@pytest.mark.parametrize(
    "name", [plot.name for plot in plots.PLOTS.values() if "mesonet" in plot.draw.__module__]
)
def test_every_plot_is_drawn(name: str, run: longhaul.Results, tmp_path: Path) -> None:
    longhaul.plot([run, run], name, tmp_path / "plot.svg")
    root = ElementTree.parse(tmp_path / "plot.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_plots_overlay_runs_and_show_parts(run: longhaul.Results) -> None:
    flows = MesoNet.of(run).long_lived.filter(pl.col("flow") == "L1")
    end = float(flows["t_s"].max())  # type: ignore[arg-type]
    options = plots.Options(from_s=end / 2, parts=("L1",), overlay=True)
    (axes,) = plots.figure("long-lived", [run, run], options).axes
    assert axes.get_title() == "L1"
    part = flows.filter(pl.col("t_s") > end / 2 + 1e-9)
    lines = [line for line in axes.get_lines() if len(np.asarray(line.get_data()[0])) == len(part)]
    assert len(lines) == 2
    assert lines[0].get_color() != lines[1].get_color()
    for line in lines:
        assert np.asarray(line.get_data()[1]).tolist() == part["throughput_pps"].to_list()
    with pytest.raises(longhaul.ResultsError, match=r"--part L9: `long-lived` of .* has L1"):
        plots.figure("long-lived", [run], plots.Options(parts=("L9",)))
    with pytest.raises(longhaul.ResultsError, match="the run ends at"):
        plots.figure("active-flows", [run], plots.Options(from_s=2 * end))


def test_the_map_has_every_router_and_neighbours_near(run: longhaul.Results) -> None:
    tables = MesoNet.of(run)
    (axes,) = plots.figure("topology-map", [run]).axes
    groups = [np.asarray(points.get_offsets()) for points in axes.collections]
    assert sum(map(len, groups)) == tables.topology.height
    names = tables.topology.filter(tier="backbone")["router"]
    places = dict(zip(names, groups[0], strict=True))
    links = {(min(ends), max(ends)) for ends in tables.backbone_ends.values()}
    apart = {
        pair: float(np.linalg.norm(places[pair[0]] - places[pair[1]]))
        for pair in combinations(sorted(names), 2)
    }
    joined = [apart[pair] for pair in links]
    assert max(joined) < np.median([apart[pair] for pair in apart if pair not in links])
    assert {text.get_text() for text in axes.texts} == set(names)


def test_a_report_has_its_pictures(run: longhaul.Results, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    longhaul.report(run, page)
    text = page.read_text()
    assert text.count("<svg") == 7
    assert "B a source" in text


def test_a_run_without_a_table_has_the_pictures_of_the_others(tmp_path: Path) -> None:
    tables = ['mesonet.measure.tables=["long_lived"]', "mesonet.intervals=30"]
    few = longhaul.run(SMALL, out=tmp_path / "few", set=tables)
    there = ["long-lived", "cwnd-long-lived", "trace-cwnd", "trace-packets"]
    assert plots.suitable([few]) == there
    longhaul.report(few, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().count("<svg") == 1


def _lines(folder: Path, measure: str) -> list[list[str]]:
    (file,) = (path for path in folder.iterdir() if path.name.startswith(f"{measure}Run"))
    return [line.split(" ") for line in file.read_text().splitlines()]


def test_the_export_has_the_files_of_the_original(run: longhaul.Results, tmp_path: Path) -> None:
    # Names of directory and files: NIST SP 500-282, chapter 3.
    folder = export(run, tmp_path)
    assert folder.name == "Run0TimeStamp1"
    assert all(path.name.endswith("Run0TimeStamp1.txt") for path in folder.iterdir())
    tables = MesoNet.of(run)
    groups = tables.goodput.select("group", "role").n_unique()
    # 3 summaries, 17 + 13 + 8 measures, 6 for each tier, 6 of access routers, 3 links, 2 traces,
    # settings.
    assert len(list(folder.iterdir())) == 3 + 17 + 13 + 8 + 18 + 6 + 3 + 2 + 1 + groups
    # The file has settings and values derived from them (section 3.2.8).
    settings = dict(_lines(folder, "ConfigurationSettingsFor"))
    of_all = tables.topology["sources"].sum()
    assert settings["mesonet.hosts.sources.all"] == json.dumps(str(of_all))
    assert settings["mesonet.hosts.flow_classes"].startswith('"DD-')
    active = _lines(folder, "ActiveFlows")
    assert active == [
        [str(n), str(flows)] for n, flows in enumerate(tables.network["active_flows"], 1)
    ]
    # Round trips are in steps of 1 ms; columns are in the order DD, DF, DN, FF, FN, NN.
    srtt = float(_lines(folder, "AverageSRTT")[9][1])
    assert srtt == pytest.approx(1e3 * tables.network["srtt_mean_s"][9])
    classes = tables.classes.filter(pl.col("interval") == 60)["completed_flows"].to_list()
    assert _lines(folder, "FlowsCompletedByType")[59] == ["60", *map(str, classes)]
    losses = [[int(cell) for cell in line[1:]] for line in _lines(folder, "LeafRouterLosses")]
    assert sum(map(sum, losses)) == (
        tables.routers.filter(pl.col("tier") == "access")
        .select(pl.col("dropped_up_pkts") + pl.col("dropped_down_pkts"))
        .to_series()
        .sum()
    )
    assert {line[1] for line in _lines(folder, "LongLivedFlowCongestionMode")[:24]} == {"NONE"}
    names, values = _lines(folder, "BackboneRouterPacketsForwarded")
    assert names == ["X", "Y", "Z"]
    assert all(int(value) > 0 for value in values)
    link = tables.backbone_links.filter(pl.col("link") == "X-Y")["entered_pkts"]
    assert [int(line[1]) for line in _lines(folder, "MonitoredBBLink")] == link.to_list()
    assert _lines(folder, "TotalPackets")[1][:2] == ["100", str(run.meta["data_packets"])]


def test_traces_are_exported_in_the_columns_of_the_original(
    run: longhaul.Results, tmp_path: Path
) -> None:
    # NIST SP 500-282, chapter 3: 22 and 5 columns.
    folder = export(run, tmp_path)
    states, messages = _lines(folder, "TCPstate"), _lines(folder, "TCPmessages")
    assert {len(line) for line in states} == {22}
    assert {len(line) for line in messages} == {5}
    assert len(states) == run.tables["flow_trace"]
    first = next(line for line in states if line[2] == "L1")
    assert first[:4] == ["5000", "start", "L1", "L1"]
    assert first[4:8] == ["hstcp", "NN", "5000", "0"]
    assert first[10:13] == ["initial-slow-start", "2", "100"]
    # The long-lived flow sends at once, and the first ACK arrives a round trip later.
    own = [line for line in messages if line[1] == "L1"]
    assert own[0] == ["5000", "L1", "L1", "DT", "1"]
    answer = next(line for line in own if line[3] == "ACK")
    assert float(answer[0]) > 5030
    assert answer[4] == "2"


def test_a_trace_is_the_flows_of_the_log(run: longhaul.Results) -> None:
    tables = MesoNet.of(run)
    states, packets = tables.flow_trace, tables.packet_trace
    assert states["t_s"].is_sorted()
    assert packets["t_s"].is_sorted()
    assert states["t_s"].is_between(5, 7).all()
    assert set(states["source"].drop_nulls()) <= {0, 1, 2, 7}
    ended = states.filter(pl.col("event") == "end").drop_nulls("source")
    log = tables.flows.filter(
        pl.col("source").is_in([0, 1, 2, 7]),
        pl.col("end_s").is_between(5, 7),
        pl.col("connected_s").is_not_null(),
    )
    figures = ("source", "receiver", "size_pkts", "sent_pkts")
    assert ended.select(figures).rows() == log.select(figures).rows()
    assert len(log) > 0
    # A packet of the long-lived flow is dropped or delivered at most once.
    (flow,) = states.filter(pl.col("long_lived") == "L1")["flow"].unique()
    data = packets.filter(pl.col("flow") == flow, pl.col("kind") == "DT")
    fates = data.group_by("number").agg(pl.col("event").is_in(["dropped", "delivered"]).sum())
    assert fates["event"].max() == 1
    drops = data.filter(pl.col("event") == "dropped")
    assert set(drops["router"]) <= {"X1a", "X1", "X", "Y", "Z", "Z1", "Z1a"}


def test_a_trace_that_is_full_says_so(tmp_path: Path) -> None:
    few = longhaul.run(SMALL, out=tmp_path / "few", set=["mesonet.measure.trace.max_rows=50"])
    assert max(few.tables["flow_trace"], few.tables["packet_trace"]) == 50
    assert any("the trace ended at 5." in text for text in few.warnings)


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        ('{ flows = ["L7"] }', "there is no long-lived flow `L7`"),
        ("{ sources = [9999] }", "these are no sources; write a number from 0 to"),
        ('{ sources = ["9-3"] }', "these are no sources"),
        ("{ }", "nothing is traced"),
        ('{ flows = ["L1"], from = "9 s", until = "3 s" }', "ends before it begins"),
    ],
)
def test_a_wrong_trace_is_refused(trace: str, message: str) -> None:
    with pytest.raises(longhaul.ScenarioError, match=message):
        longhaul.load(SMALL, set=[f"mesonet.measure.trace={trace}"])


def test_export_refuses_what_it_cannot_do(
    run: longhaul.Results, finished: longhaul.Results, cli: CommandLine
) -> None:
    assert cli("export", run.path, "--out", "text").returncode == 0
    again = cli("export", run.path, "--out", "text")
    assert (again.returncode, "already exists" in again.stderr) == (2, True)
    other = cli("export", finished.path, "--format", "mesonet")
    assert (other.returncode, "is a run of TCP; expected qlog" in other.stderr) == (2, True)
    other = cli("export", run.path, "--format", "qlog")
    assert (other.returncode, "is a run of MesoNet; expected mesonet" in other.stderr) == (2, True)


def test_keys_are_listed_with_their_original_names(cli: CommandLine) -> None:
    listed = cli("list", "mesonet").stdout
    for name in ("lambdaOFF", "QszAlg", "LL_FLOW_SOURCES", "long_lived.*.from"):
        assert name in listed


def test_transit_one_way_between_routers_with_hyphens(tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text(
        'backbone = [{ name = "new-york", direct = 1 }, { name = "york", direct = 1 }, '
        '{ name = "new" }]\nlinks = [{ from = "new-york", to = "york", delay = 5 }, '
        '{ from = "york", to = "new", delay = 5, both = false }, '
        '{ from = "new", to = "new-york", delay = 5, both = false }]\n'
        'routes = [{ at = "york", next = "new", to = ["new-york"] }]\n'
    )
    (tmp_path / "mine.toml").write_text(
        '[mesonet]\nintervals = 20\nnetwork = { topology = "net.toml" }\nhosts = { sources = 40 }\n'
    )
    run = longhaul.run(tmp_path / "mine.toml", out=tmp_path / "r")
    tables = MesoNet.of(run)
    assert set(tables.backbone_ends.values()) == {
        ("new-york", "york"), ("york", "new-york"), ("york", "new"), ("new", "new-york")
    }  # fmt: skip
    used = tables.backbone_links.group_by("link").agg(pl.col("entered_pkts").sum())
    through = dict(used.iter_rows())
    assert through["york-new"] > 0
    assert through["new-new-york"] > 0
    assert through["york-new-york"] == 0
    (axes,) = plots.figure("topology-map", [run]).axes
    drawn = [text for text in axes.texts if isinstance(text, Annotation)]
    assert sum(text.arrow_patch is not None for text in drawn) == 2


def test_a_wrong_topology_is_one_message(tmp_path: Path, cli: CommandLine) -> None:
    (tmp_path / "net.toml").write_text(
        'backbone = [{ name = "X", direct = 1 }, { name = "Y", direct = 1 }]\nlinks = []\n'
    )
    (tmp_path / "wrong.toml").write_text(
        '[mesonet]\nintervals = 5\nnetwork = { topology = "net.toml" }\n'
    )
    refused = cli("check", "wrong.toml")
    assert refused.returncode == 2
    assert "net.toml:1:1: no route leads from `X` to `Y`" in refused.stderr
