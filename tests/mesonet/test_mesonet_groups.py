"""Mixed algorithms, limits on large files, and goodput by flow group.

See NIST SP 500-282, chapter 8.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import longhaul
from longhaul.mesonet import MesoNet, groups, responses_of
from longhaul.mesonet.export import export

# Two backbone routers with access routers of all classes.
TOPOLOGY = {
    "backbone": [
        {"name": name, "direct": 2, "pops": [{"normal": 3}, {"fast": 3}]} for name in ("X", "Y")
    ],
    "links": [{"from": "X", "to": "Y", "delay": 5}],
}
MIXED: dict[str, Any] = {
    "MI": 150,
    "M": 200,
    "network": {"topology": TOPOLOGY, "backbone_rate": 400},
    "baseSources": 20,
    "probNs": 0.3,
    "probNsf": 0.3,
    "probNsd": 0.4,
    "probNr": 0.3,
    "probNrf": 0.3,
    "probNrd": 0.4,
    # Flows do not start at the same time.
    "prON": 0,
    "alpha": 5,
    "lambdaOFF": 2000,
    "FastHostProb": 0.5,
    "Fp": 0,
    "Sp": 0.02,
    "Sx": 40,
    "Mp": 0.02,
    "Mx": 100,
    "algorithms": [{"share": 0.6}, {"congestion": {"kind": "scalable"}}],
    "files": {"admission": True},
    "measure": {"flow_log": True, "batch": 100},
}
LARGE = {"movie": "movies", "service pack": "service_packs", "document": "documents"}
PATHS = {"DD": "very fast", "DF": "fast", "FF": "fast"}


def simulated(out: Path, **more: object) -> longhaul.Results:
    return longhaul.run({"title": "Mixed", "mesonet": MIXED | more}, out=out)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Results:
    return simulated(tmp_path_factory.mktemp("mixed") / "run")


def limits(run: longhaul.Results) -> tuple[dict[str, int], dict[str, dict[Any, int]]]:
    """Return the scenario's upper and lower limits on the number of flows with large files.

    Each kind of large file has one upper limit, and a lower limit per (path, interface, role).
    """
    said = {path: value for path, value, _ in longhaul.load(run.scenario).explain()}
    cells = [
        (path, interface, role)
        for path in groups.PATHS
        for interface in groups.INTERFACES
        for role in groups.ROLES
    ]
    return (
        {file: int(said[f"mesonet.files.{key}.max"]) for file, key in LARGE.items()},
        {
            file: dict(zip(cells, map(int, said[f"mesonet.files.{key}.min"].split()), strict=True))
            for file, key in LARGE.items()
        },
    )


# Window of the parallel simulation. Files of its flows are chosen at its beginning, and flows that
# end in it count as active until its end.
WINDOW_S = 0.003


def windows(times: pl.Series) -> pl.Series:
    """Convert times in seconds into multiples of `WINDOW_S`, which need not be integers."""
    return (times / WINDOW_S).round(9)


def open_flows(flows: pl.DataFrame, file: str, times: pl.Series) -> pl.Series:
    """Count, at each time, the flows for a kind of file that are connecting or transferring."""
    chosen = flows.filter(pl.col("file") == file)
    begun = windows(chosen["start_s"]).floor().sort()
    ended = windows(chosen["end_s"]).ceil().sort()
    at = windows(times)
    return pl.Series(begun.search_sorted(at, "left") - ended.search_sorted(at, "right"))


def test_flows_are_in_the_group_of_their_path_interface_and_file(run: longhaul.Results) -> None:
    flows = MesoNet.of(run).flows
    path = pl.col("class").replace_strict(PATHS, default="typical")
    assert (flows["path"] == flows.select(path).to_series()).all()
    numbers = {group[1:]: group[0] for group in groups.GROUPS}
    found = set(flows.select("file", "path", "interface", "group").unique().iter_rows())
    assert {numbers[group[:3]] for group in found} == {group[3] for group in found}
    # Of the 24 groups, those of documents have no flows.
    assert len(found) == 18
    # A host with a normal interface sends 8 packets per ms.
    normal = flows.filter(pl.col("interface") == "normal")["goodput_pps"].max()
    fast = flows.filter(pl.col("interface") == "fast")["goodput_pps"].max()
    assert normal <= 8000 < fast <= 80_000  # type: ignore[operator]


def test_statistics_of_groups_are_those_of_their_flows(run: longhaul.Results) -> None:
    tables = MesoNet.of(run)
    exact = groups.of_flows(tables.flows)
    ours = groups.of_batches(tables.goodput)
    assert len(ours) == len(exact) == 36
    keys = [*groups.KEYS, "flows"]
    assert ours.select(keys).equals(exact.select(keys))
    for mine, theirs in (
        ("mean_pps", "mean_pps"),
        ("pooled_deviation_pps", "deviation_pps"),
        ("least_pps", "min_pps"),
        ("largest_pps", "max_pps"),
    ):
        assert ours[mine].to_list() == pytest.approx(exact[theirs].to_list(), rel=1e-9)
    # Some groups have several batches; the others have one, so all their statistics are exact.
    batches = dict(tables.goodput.group_by("group", "role").len().rows_by_key(["group", "role"]))
    assert max(count for ((count,),) in batches.values()) > 3
    alone = pl.Series([batches[row["group"], row["role"]] == [(1,)] for row in ours.to_dicts()])
    assert 10 < alone.sum() < 36
    for statistic in groups.STATISTICS:
        one, other = (table.filter(alone)[statistic].to_list() for table in (ours, exact))
        assert one == pytest.approx(other, rel=1e-9), statistic


def test_responses_of_chapter_8_are_those_of_table_8_19(run: longhaul.Results) -> None:
    rows = responses_of(run, chapter=8)
    of_run = dict(rows.filter(pl.col("period") == "run").select("response", "value").iter_rows())
    completed = MesoNet.of(run).flows.filter(pl.col("goodput_pps").is_not_null())
    assert of_run["y12"] == MesoNet.of(run).totals["completed_flows"].sum()
    shares = [of_run[f"y{number}"] for number in (13, 14, 15, 16)]
    files = ("web", "document", "service pack", "movie")
    assert shares == pytest.approx(
        [completed.filter(pl.col("file") == file).height / completed.height for file in files]
    )
    assert sum(shares) == pytest.approx(1.0)
    numbers = rows.filter(pl.col("period") != "run")["response"].to_list()
    assert numbers == [f"y{number}" for number in range(1, 12)]


def test_batches_are_exported_in_the_columns_of_table_8_24(
    run: longhaul.Results, tmp_path: Path
) -> None:
    folder = export(run, tmp_path)
    batches = MesoNet.of(run).goodput.filter(
        (pl.col("group") == 22) & (pl.col("role") == "alternate")
    )
    lines = (folder / f"FlowGroup22ALT{folder.name}.txt").read_text().splitlines()
    assert len(lines) == len(batches) > 1
    for line, batch in zip(lines, batches.to_dicts(), strict=True):
        interval, flows, *numbers = line.split(" ")
        assert (int(interval), int(flows)) == (batch["interval"], batch["flows"])
        wanted = [batch[name] for name in groups.STATISTICS]
        assert [float(number) for number in numbers] == pytest.approx(wanted, rel=1e-8)
        assert len(numbers) + 2 == 15


def test_batches_are_reported_at_the_end_of_the_interval_in_which_they_are_full(
    run: longhaul.Results,
) -> None:
    tables = MesoNet.of(run)
    (last,) = tables.goodput.select(pl.col("interval").max()).row(0)
    for (number, role), batches in tables.goodput.group_by("group", "role"):
        flows = tables.flows.filter(
            (pl.col("group") == number)
            & (pl.col("role") == role)
            & pl.col("connected_s").is_not_null()
        )
        ended = (flows["end_s"] / tables.interval_s).ceil().cast(pl.Int64)
        waiting, expected = 0, []
        for interval in range(1, last + 1):
            waiting += int((ended == interval).sum())
            if waiting >= 100 or (interval == last and waiting):
                expected.append((interval, waiting))
                waiting = 0
        assert batches.sort("interval").select("interval", "flows").rows() == expected


def test_open_large_files_are_counted_from_their_choice_to_the_end(run: longhaul.Results) -> None:
    tables = MesoNet.of(run)
    for file in LARGE:
        counted = tables.network[f"{file.replace(' ', '_')}_flows"]
        logged = open_flows(tables.flows, file, tables.network["t_s"])
        # The log lacks flows that have not ended when the run ends.
        missing = counted - logged
        assert (missing >= 0).all()
        assert (missing.diff().drop_nulls() >= 0).all()
        assert (logged.max() > 0) == (file != "document")  # type: ignore[operator]


def test_large_files_are_admitted_flow_by_flow(run: longhaul.Results) -> None:
    """Check every large file in the log of flows against the rules of admission.

    If kinds of files are below their minimum for a flow's path, interface and role, the flow must
    take the first of these kinds. Otherwise, it must not take a kind that is at its maximum.
    """
    tables = MesoNet.of(run)
    most, least = limits(run)
    times = tables.network["t_s"]
    missing = sum(
        tables.network[f"{file.replace(' ', '_')}_flows"] - open_flows(tables.flows, file, times)
        for file in LARGE
    )
    known_s = float(times.filter(missing == 0).max())  # type: ignore[arg-type]
    flows = tables.flows.with_columns(
        windows(tables.flows["start_s"]).floor().alias("chosen"),
        windows(tables.flows["end_s"]).ceil().alias("over"),
    )
    flows = flows.filter(pl.col("start_s") <= known_s).sort("start_s")
    ends: list[tuple[float, str, Any]] = []
    active: Counter[Any] = Counter()
    forced = full = 0
    for flow in flows.iter_rows(named=True):
        cell = (flow["path"], flow["interface"], flow["role"])
        for end in [end for end in ends if end[0] <= flow["chosen"]]:
            ends.remove(end)
            active[end[1], end[2]] -= 1
            active[end[1]] -= 1
        below = [file for file in LARGE if active[file, cell] < least[file][cell]]
        file = flow["file"]
        if below:
            assert file == below[0]
            forced += 1
        elif file in LARGE:
            assert active[file] < most[file]
        full += active["movie"] >= most["movie"]
        if file in LARGE:
            active[file, cell] += 1
            active[file] += 1
            ends.append((flow["over"], file, cell))
    # Check that both rules decided often enough for a test.
    assert len(flows) > 2000
    assert (forced > 200, full > 100) == (True, True), (forced, full)


def test_the_same_sources_have_the_alternate_whatever_it_is(
    run: longhaul.Results, tmp_path: Path
) -> None:
    other = simulated(
        tmp_path / "other",
        algorithms=[{"share": 0.6}, {"congestion": {"kind": "hstcp"}}],
        MI=100,
    )
    roles = [
        MesoNet.of(one).flows.group_by("source").agg(pl.col("role").unique())
        for one in (run, other)
    ]
    both = roles[0].join(roles[1], on="source")
    assert both["role"].list.len().max() == 1
    assert (both["role"] == both["role_right"]).all()
    share = (roles[0]["role"].list.first() == "alternate").mean()
    assert share == pytest.approx(0.4, abs=0.06)
    assert set(MesoNet.of(other).flows["algorithm"].unique()) == {"reno", "hstcp"}
