"""The explorer's data: a page contains the recorded values of runs and campaigns."""

import base64
import hashlib
import http.client
import json
import re
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import MESONET_NETWORK, CommandLine
from matplotlib.figure import Figure
from PIL import Image

import longhaul
from longhaul import LonghaulError
from longhaul.campaign.dataset import Dataset
from longhaul.explore import explore
from longhaul.explore.animation import Replay
from longhaul.explore.blobs import Blobs
from longhaul.explore.large import Large, add_large, few_values
from longhaul.explore.server import Server
from longhaul.explore.sources import collect, open_source
from longhaul.explore.tables import Content, Roles

ROOT = Path(__file__).parents[2]
TYPES = {"f64": "<f8", "f32": "<f4", "u16": "<u2", "u8": "u1"}


class Page:
    """A page of the explorer, with its data decoded as the script of the page decodes them."""

    def __init__(self, file: Path) -> None:
        self.html = file.read_text(encoding="utf-8")
        text = self._element("catalogue").replace("<\\/", "</")
        self.catalogue: dict[str, Any] = json.loads(text)

    def _element(self, name: str) -> str:
        found = re.search(rf'id="{name}">(.*?)</script>', self.html, re.DOTALL)
        assert found, name
        return found[1]

    def table(self, name: str) -> dict[str, Any]:
        """Return a table's entry in the catalogue."""
        return next(table for table in self.catalogue["tables"] if table["name"] == name)

    def values(self, stored: dict[str, Any]) -> np.ndarray:
        """Return the numbers of a column or curve that is stored in the page."""
        content = base64.b64decode(self._element(f"blob-{stored['blob']}"))
        content = content if stored.get("raw") else zlib.decompress(content)
        raw = np.frombuffer(content, TYPES[stored["encoding"]])
        if "scale" not in stored:
            return raw
        values = stored["offset"] + stored["scale"] * raw.astype(float)
        return np.where(raw == 65_535, np.nan, values)

    def column(self, table: str, name: str) -> np.ndarray:
        """Return the numbers of a column of a table."""
        columns = self.table(table)["columns"]
        return self.values(next(column for column in columns if column["name"] == name))

    def curves(self, table: str, measure: str) -> tuple[np.ndarray, np.ndarray, float]:
        """Return a measure's times and values (elements, times), and the largest rounding error."""
        entry = next(series for series in self.catalogue["series"] if series["table"] == table)
        stored = next(one for one in entry["measures"] if one["name"] == measure)
        times = self.values(entry["times"])
        return times, self.values(stored).reshape(entry["elements"], -1), stored["scale"] / 2


@pytest.fixture(scope="module")
def of_flows(finished: longhaul.Results, tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(explore([finished.path], tmp_path_factory.mktemp("page") / "flows.html"))


@pytest.fixture(scope="module")
def mesonet(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Results:
    folder = tmp_path_factory.mktemp("mesonet")
    scenario = f"[mesonet]\nintervals = 40\n{MESONET_NETWORK}"
    return longhaul.run(scenario, out=folder / "m1")


def test_script_is_built_from_the_sources() -> None:
    sources = ROOT / "explorer"
    names = [file.relative_to(sources).as_posix() for file in (sources / "src").rglob("*.*")]
    digest = hashlib.sha256()
    for name in sorted([*names, "package-lock.json", "unused.mjs"]):
        digest.update(f"{name}\0".encode() + (sources / name).read_bytes() + b"\0")
    built = ROOT / "python/longhaul/explore/built/sources.sha256"
    assert built.read_text().strip() == digest.hexdigest(), "run `make explorer`"


def test_tables_of_a_run_are_those_it_recorded(of_flows: Page, finished: longhaul.Results) -> None:
    flows = finished.flows
    assert of_flows.column("flows", "goodput_bps").tolist() == flows["goodput_bps"].to_list()
    label = next(one for one in of_flows.table("flows")["columns"] if one["name"] == "label")
    codes = of_flows.values(label)
    assert [label["categories"][code] for code in codes] == flows["label"].to_list()
    roles = {one["name"]: one["role"] for one in of_flows.table("flows")["columns"]}
    assert (roles["flow"], roles["goodput_bps"]) == ("name", "response")


def test_curves_of_a_run_are_its_samples(of_flows: Page, finished: longhaul.Results) -> None:
    times, windows, error = of_flows.curves("flows", "cwnd_pkts")
    for at, name in enumerate(finished.flows["name"]):
        samples = finished.series.filter(pl.col("kind") == "flow", pl.col("name") == name)
        here = np.searchsorted(times, samples["t_s"].to_numpy())
        recorded = samples["cwnd_pkts"].to_numpy()
        known = np.isfinite(recorded)
        assert np.allclose(windows[at, here][known], recorded[known], atol=error)
    _, rates, error = of_flows.curves("flows", "throughput_bps")
    first = finished.flows["name"][0]
    counted = finished.series.filter(pl.col("kind") == "flow", pl.col("name") == first)
    growth = float(np.ptp(counted["delivered_bytes"].to_numpy()))
    assert np.nansum(rates[0, 1:] * np.diff(times)) == pytest.approx(
        8 * growth, abs=error * times[-1]
    )


def text_of(page: Page, table: str, name: str) -> list[str]:
    stored = next(column for column in page.table(table)["columns"] if column["name"] == name)
    return [stored["categories"][int(code)] for code in page.values(stored)]


def test_slow_start_ends_with_the_cut_that_ends_it(
    of_flows: Page, finished: longhaul.Results
) -> None:
    left = of_flows.column("flows", "left_slow_start_s")
    at_threshold = pl.col("cwnd_after_pkts") >= pl.col("ssthresh_after_pkts")
    cuts = finished.events.filter(pl.col("event") == "cut", at_threshold)
    for at, name in enumerate(finished.flows["name"]):
        samples = finished.series.filter(pl.col("kind") == "flow", pl.col("name") == name)
        above = samples.filter(pl.col("cwnd_pkts") >= pl.col("ssthresh_pkts"))["t_s"].to_numpy()[0]
        cut = cuts.filter(pl.col("name") == name)["t_s"].to_numpy().min()
        assert left[at] == cut
        # A sample shows the end of slow start up to one interval later.
        assert 0 <= above - cut <= 0.1
    assert set(text_of(of_flows, "flows", "left_slow_start_by")) == {"event"}


def test_slow_start_that_ends_without_a_cut_is_known_from_samples(tmp_path: Path) -> None:
    # `low` starts with a threshold far below the BDP; BBR sets a threshold when it drains.
    scenario = """
        duration = "4 s"
        measure = { every = "100 ms" }
        topology = { dumbbell = { bottleneck = { rate = "50 Mbps", delay = "20 ms" } } }
        flows = [
            { label = "low", tcp = { initial_ssthresh = 20 } },
            { label = "bbr", congestion = { kind = "bbr3" } },
        ]
    """
    run = longhaul.run(scenario, out=tmp_path / "low")
    page = Page(explore([run.path], tmp_path / "low.html"))
    left = page.column("flows", "left_slow_start_s")
    for at, name in enumerate(run.flows["name"]):
        samples = run.series.filter(pl.col("kind") == "flow", pl.col("name") == name)
        above = samples.filter(pl.col("cwnd_pkts") >= pl.col("ssthresh_pkts"))["t_s"].min()
        assert left[at] == above
    assert text_of(page, "flows", "left_slow_start_by") == ["sample", "sample"]


def test_columns_say_what_they_are(
    of_flows: Page, mesonet: longhaul.Results, tmp_path: Path
) -> None:
    registry = {
        row["name"]: row["description"]
        for row in longhaul._engine.columns()
        if row["table"] == "flows"
    }
    of_mesonet = Page(explore([mesonet.path], tmp_path / "m.html"))
    for page in (of_flows, of_mesonet):
        for table in page.catalogue["tables"]:
            without = [one["name"] for one in table["columns"] if not one["about"]]
            assert without in ([], ["run"]), table["name"]
    for column in of_flows.table("flows")["columns"]:
        assert column["about"] == registry.get(column["name"], column["about"])


def test_when_links_and_routers_lose(mesonet: longhaul.Results, tmp_path: Path) -> None:
    scenario = ROOT / "scenarios/one_flow.toml"
    settings = ["topology.dumbbell.bottleneck.rate='10 Mbps'", "duration='10 s'"]
    settings += ["measure={ every = '100 ms' }"]
    run = longhaul.run(scenario, out=tmp_path / "one", set=settings)
    page = Page(explore([run.path], tmp_path / "one.html"))
    counted = run.series.filter(pl.col("kind") == "link", pl.col("name") == run.links["name"][0])
    grown = counted.with_columns(lost=pl.col("dropped_pkts").diff()).filter(pl.col("lost") > 0)
    assert grown.height > 0
    facts = {name: page.column("links", name)[0] for name in
             ("first_drop_s", "last_drop_s", "samples_with_drops")}  # fmt: skip
    assert facts["first_drop_s"] == grown["t_s"].min()
    assert facts["last_drop_s"] == grown["t_s"].max()
    assert facts["samples_with_drops"] == grown.height
    series = {one["table"]: one for one in page.catalogue["series"]}
    assert series["links"]["lost"] == "lost_pkts"
    dropped = pl.col("dropped_up_pkts") + pl.col("dropped_down_pkts")
    losing = mesonet.table("routers").filter(dropped > 0)
    of_routers = Page(explore([mesonet.path], tmp_path / "m.html"))
    names = mesonet.table("topology")["router"].to_list()
    for column, wanted in (
        ("last_drop_s", pl.col("t_s").max()),
        ("intervals_with_drops", pl.len()),
    ):
        found = dict(losing.group_by("router").agg(wanted).iter_rows())
        for name, value in zip(names, of_routers.column("routers", column), strict=True):
            assert value == found.get(name, 0) or (np.isnan(value) and name not in found)


def test_several_runs_stand_below_each_other(
    finished: longhaul.Results, finished_again: longhaul.Results, tmp_path: Path
) -> None:
    page = Page(explore([finished.path, finished_again.path], tmp_path / "both.html"))
    both = [*finished.flows["goodput_bps"], *finished_again.flows["goodput_bps"]]
    assert page.column("flows", "goodput_bps").tolist() == both
    run = page.table("flows")["columns"][0]
    assert (run["name"], run["categories"]) == ("run", ["r1", "r2"])
    _, windows, _ = page.curves("flows", "cwnd_pkts")
    assert len(windows) == len(both)


def test_losses_of_routers_are_those_of_all_intervals(
    mesonet: longhaul.Results, tmp_path: Path
) -> None:
    page = Page(explore([mesonet.path], tmp_path / "m.html"))
    routers = mesonet.table("routers").with_columns(
        dropped=pl.col("dropped_up_pkts") + pl.col("dropped_down_pkts"),
        arrived=pl.col("arrived_up_pkts") + pl.col("arrived_down_pkts"),
    )
    names = mesonet.table("topology")["router"].to_list()
    sums = routers.group_by("router").agg(pl.col("dropped", "arrived").sum())
    wanted = pl.DataFrame({"router": names}).join(sums, on="router", how="left")
    assert wanted["dropped"].sum() > 0
    assert page.column("routers", "dropped_pkts").tolist() == wanted["dropped"].to_list()
    share = page.column("routers", "loss_share")
    assert share.tolist() == (wanted["dropped"] / wanted["arrived"].clip(1)).to_list()
    first = page.column("routers", "first_drop_s")
    losing = routers.filter(pl.col("dropped") > 0).group_by("router").agg(pl.col("t_s").min())
    firsts = dict(losing.iter_rows())
    for name, time in zip(names, first, strict=True):
        assert np.isnan(time) if name not in firsts else time == firsts[name]
    _, dropped, error = page.curves("routers", "dropped_pkts")
    assert error == 0.5
    assert np.nansum(dropped, 1).tolist() == wanted["dropped"].to_list()


def test_network_has_a_place_for_each_router(mesonet: longhaul.Results, tmp_path: Path) -> None:
    page = Page(explore([mesonet.path], tmp_path / "m.html"))
    (picture,) = page.catalogue["networks"]
    topology = mesonet.table("topology")
    assert [node["name"] for node in picture["nodes"]] == topology["router"].to_list()
    places = {(round(node["x"], 6), round(node["y"], 6)) for node in picture["nodes"]}
    assert len(places) == len(topology)
    assert all(0 <= part <= 1 for place in places for part in place)
    ends = {
        frozenset(picture["nodes"][link[end]]["name"] for end in ("from", "to"))
        for link in picture["links"]
    }
    assert {frozenset("XY"), frozenset("YZ")} <= ends
    assert frozenset("XZ") not in ends


@pytest.mark.parametrize(
    "settings", [["mesonet.intervals=1"], ["mesonet.measure.tables=['routers']"]]
)
def test_network_without_curves_or_links_is_not_shown(
    settings: list[str], cli: CommandLine, tmp_path: Path
) -> None:
    run = longhaul.run(f"[mesonet]\nintervals = 9\n{MESONET_NETWORK}", out="m", set=settings)
    assert Page(explore([run.path], tmp_path / "m.html")).catalogue["networks"] == []
    refused = cli("animate", run.path)
    assert (refused.returncode, "nothing to animate" in refused.stderr) == (2, True)


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Write the table of a campaign of 12 runs and return its path."""
    frame = pl.DataFrame(
        {
            "run": list(range(1, 13)),
            "replication": [1] * 12,
            "algorithm": ["reno", "cubic", "hstcp"] * 4,
            "rtt": ["50 ms", "5 ms"] * 6,
            "goodput_bps": [float(at) for at in range(12)],
            "cuts": [float(at % 5) for at in range(12)],
            "scenario_hash": ["x"] * 12,
        }
    )
    facts = {
        "title": "Twelve </script> runs",
        "factors": {"algorithm": ["reno", "cubic", "hstcp"], "rtt": ["5 ms", "50 ms"]},
        "responses": ["goodput_bps", "cuts"],
        "runs": 12,
        "wanted": 16,
        "results_version": 1,
    }
    folder = tmp_path / "twelve"
    folder.mkdir()
    Dataset(frame, facts).write(folder / "results.parquet")
    return folder


def test_factors_and_responses_of_a_campaign(campaign: Path, tmp_path: Path) -> None:
    page = Page(explore([campaign], tmp_path / "c.html"))
    (table,) = page.catalogue["tables"]
    roles = {column["name"]: column["role"] for column in table["columns"]}
    assert roles == {
        "name": "name", "run": "name", "replication": "name", "algorithm": "factor",
        "rtt": "factor", "goodput_bps": "response", "cuts": "response",
    }  # fmt: skip
    assert table["colour"] == "algorithm"
    assert "12 of 16" in table["there"]
    assert table["isPartial"]
    assert page.catalogue["title"] == "Twelve </script> runs"
    # Twelve rows make eleven merges, and each row is in the order once.
    assert sorted(table["clusters"]["order"]) == list(range(12))
    assert len(table["clusters"]["merges"]) == 11


KEPT = """
title = "Kept"
keep = ["series"]
replications = 1
[scenario]
duration = "4 s"
measure = { every = "5 ms" }
topology = { dumbbell = { bottleneck = { rate = "10 Mbps", delay = "10 ms" } } }
flows = [{ label = "a", count = 2 }]
[responses]
goodput = "goodput_bps"
used = "links.bottleneck.utilization"
share = "labels.a.share"
[factors]
algorithm = { path = "flows.a.congestion.kind", levels = ["reno", "cubic"] }
"""


def test_kept_series_of_a_campaign_are_curves_of_its_runs(cli: CommandLine, tmp_path: Path) -> None:
    Path("kept.toml").write_text(KEPT)
    made = cli("campaign", "run", "kept.toml")
    assert made.returncode == 0, made.stderr
    page = Page(explore(["campaigns/kept"], tmp_path / "kept.html"))
    series = page.catalogue["series"][0]
    # The 801 samples of each run are thinned; the page says so, and states their size.
    assert "500 of up to 801 samples" in series["note"]
    assert "MB" in series["note"]
    times, rates, error = page.curves("kept", "flows throughput_bps")
    dataset = Dataset.read(Path("campaigns/kept/results.parquet"))
    for at, folder in enumerate(dataset.frame["tables"]):
        samples = pl.read_parquet(Path(folder) / "series.parquet")
        last = samples.filter(pl.col("kind") == "flow").group_by("name").agg(
            pl.col("delivered_bytes").max()
        )["delivered_bytes"].sum()  # fmt: skip
        carried = np.nansum(rates[at, 1:] * np.diff(times)) / 8
        assert carried == pytest.approx(last, rel=0.02)
        _, windows, error = page.curves("kept", "flows cwnd_pkts")
        means = samples.filter(pl.col("kind") == "flow").group_by("t_s").agg(
            pl.col("cwnd_pkts").mean()
        ).sort("t_s")  # fmt: skip
        latest = np.searchsorted(means["t_s"].to_numpy(), times, side="right") - 1
        np.testing.assert_allclose(windows[at], means["cwnd_pkts"].to_numpy()[latest], atol=error)
    about = {column["name"]: column["about"] for column in page.table("kept")["columns"]}
    assert about["algorithm"].startswith("sets flows.a.congestion.kind: Congestion control")
    assert about["used"].startswith("links.bottleneck.utilization: link bottleneck: ")
    assert "2 of 2 runs" in page.table("kept")["there"]


def test_campaign_whose_kept_series_are_gone_has_no_curves(campaign: Path, tmp_path: Path) -> None:
    dataset = Dataset.read(campaign / "results.parquet")
    frame = dataset.frame.with_columns(tables=pl.lit(str(tmp_path / "gone")))
    Dataset(frame, dataset.facts).write(campaign / "results.parquet")
    page = Page(explore([campaign], tmp_path / "c.html"))
    assert page.catalogue["series"] == []
    assert "keep" in page.table("twelve")["samples"]


def test_a_single_sample_of_each_run_makes_no_curves(cli: CommandLine, tmp_path: Path) -> None:
    Path("kept.toml").write_text(KEPT.replace("5 ms", "5 s"))
    assert cli("campaign", "run", "kept.toml").returncode == 0
    assert Page(explore(["campaigns/kept"], tmp_path / "k.html")).catalogue["series"] == []


def test_levels_keep_the_order_of_the_campaign(campaign: Path, tmp_path: Path) -> None:
    page = Page(explore([campaign], tmp_path / "c.html"))
    columns = page.catalogue["tables"][0]["columns"]
    rtt = next(column for column in columns if column["name"] == "rtt")
    assert rtt["categories"] == ["5 ms", "50 ms"]


@pytest.fixture(scope="module")
def long_table() -> Large:
    """Return 30,000 rows, one of which stands out, and a sample of 1,000."""
    random = np.random.default_rng(3)
    rows = 30_000
    frame = pl.DataFrame(
        {"algorithm": np.array(["reno", "cubic"])[np.arange(rows) % 2],
         "loss": np.array([1e-5, 1e-3])[np.arange(rows) // 2 % 2],
         "y_s": random.normal(size=rows), "z": random.normal(size=rows)}
    )  # fmt: skip
    stands_out = frame.with_columns(
        z=pl.when(pl.int_range(pl.len()) == 17_000).then(99.0).otherwise("z")
    )
    return Large("t", stands_out.lazy(), Roles(factors={"algorithm": ["reno", "cubic"]}), 1_000)


def test_columns_of_few_values_are_factors_if_rows_share_them() -> None:
    frame = pl.DataFrame(
        {"algorithm": ["reno", "cubic"] * 10,
         "seed": [*range(10)] * 2,
         # Only four rows have a value, which is a measurement, not a factor with four levels.
         "outage_s": [0.5, 0.25, 0.125, 1.0, *[None] * 16],
         "constant": [1.0] * 20}
    )  # fmt: skip
    assert few_values(frame.lazy()) == {"algorithm": ["cubic", "reno"], "seed": [*range(10)]}


FILTERS: list[tuple[dict[str, Any], pl.Expr]] = [
    ({"kind": "range", "column": "y_s", "range": [0.5, 1.5]}, pl.col("y_s").is_between(0.5, 1.5)),
    ({"kind": "names", "column": "algorithm", "names": ["reno"]}, pl.col("algorithm") == "reno"),
    ({"kind": "groups", "column": "loss", "values": [float(np.float32(1e-3))]},
     pl.col("loss") == 1e-3),
    ({"kind": "rows", "rows": [1, 5]}, pl.int_range(1, pl.len() + 1).is_in([1, 5])),
    ({"kind": "box", "x": "y_s", "xRange": [0.0, 9.0], "y": "algorithm", "yRange": ["cubic"]},
     (pl.col("y_s") >= 0) & (pl.col("algorithm") == "cubic")),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "same"), FILTERS)
def test_all_rows_are_counted_as_the_page_would(
    long_table: Large, asked: dict[str, Any], same: pl.Expr
) -> None:
    whole = long_table.scan.collect()
    wanted = whole.filter(same).height
    assert 0 < wanted < whole.height
    assert long_table.count([asked]) == wanted


def test_sample_has_what_stands_out(long_table: Large) -> None:
    blobs = Blobs()
    entry = long_table.entry(blobs)
    assert entry["whole"] == 30_000
    assert 900 < entry["rows"] < 1_100
    columns = {column["name"]: blobs.read(column) for column in entry["columns"]}
    assert columns["z"].max() == 99.0
    at = int(columns["z"].argmax())
    assert columns["row"][at] == 17_001
    # The sample is random: it keeps the mean, and half of the rows have either algorithm.
    assert columns["y_s"].mean() == pytest.approx(0.0, abs=0.15)
    assert columns["algorithm"].mean() == pytest.approx(0.5, abs=0.08)
    within = long_table.entry(Blobs(), [{"kind": "range", "column": "z", "range": [90, 100]}])
    assert (within["rows"], within["whole"]) == (1, 1)


def test_unknown_filters_are_refused(long_table: Large) -> None:
    with pytest.raises(LonghaulError, match="no column `w`"):
        long_table.count([{"kind": "range", "column": "w", "range": [0, 1]}])
    with pytest.raises(LonghaulError, match="expected a filter"):
        long_table.count([{"kind": "drop table"}])


def test_server_answers_only_those_who_know_its_key(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    pl.DataFrame({"x": [1.0, 2.0, 3.0]}).write_parquet(file)
    with Server([file]) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()

        def asked(path: str, host: str | None = None) -> int:
            connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
            connection.request("GET", path, headers={"Host": host or server.host})
            return connection.getresponse().status

        assert asked(f"/{server.key}/") == 200
        assert asked("/") == 404
        assert asked("/wrong/") == 404
        assert asked(f"/{server.key}/", "other.example") == 404
        assert asked(f"/{server.key}/selected.csv?q=nonsense") == 400
        server.shutdown()
        serving.join()


def test_file_of_a_long_table_says_that_it_has_a_sample(tmp_path: Path) -> None:
    source = tmp_path / "t.parquet"
    pl.DataFrame({"x": np.arange(1_100_000, dtype=np.float32)}).write_parquet(source)
    page = Page(explore([source], tmp_path / "t.html"))
    assert page.table("t")["whole"] == 1_100_000
    assert "--serve" in page.catalogue["warnings"][0]


def test_a_column_of_a_long_table_may_not_have_the_name_of_row_numbers(long_table: Large) -> None:
    with pytest.raises(LonghaulError, match="t: column `row`: expected another name"):
        add_large(Content(sample=1_000), "t", long_table.numbered, Roles())


def test_results_of_a_study_are_a_table(tmp_path: Path) -> None:
    folder = ROOT / "reproductions/longhaul_studies/hstcp_2003/results/quick"
    page = Page(explore([folder], tmp_path / "s.html"))
    values = pl.read_parquet(folder / "values.parquet")
    assert page.table("values")["rows"] == values.height


def test_animation_has_a_frame_a_moment(cli: CommandLine, mesonet: longhaul.Results) -> None:
    made = cli("animate", mesonet.path, "--out", "m.gif", "--seconds", "0.5")
    assert made.returncode == 0, made.stderr
    with Image.open("m.gif") as picture:
        assert getattr(picture, "n_frames", 1) == 7
    bad = cli("animate", mesonet.path, "--out", "n.gif", "--measure", "loss")
    assert (bad.returncode, "loss_share" in bad.stderr) == (2, True)


def test_animation_shows_the_time_and_a_curve_each(mesonet: longhaul.Results) -> None:
    content = collect([open_source(mesonet.path)])
    drawing = Figure(figsize=(9.6, 5.0), layout="constrained")
    replay = Replay(content, None)
    frames = replay.frames(None, None, 5)
    moment = replay.start(drawing, frames)
    drawing.draw_without_rendering()
    drawing.set_layout_engine("none")
    moment(frames[2])
    drawing.draw_without_rendering()
    clock = next(axes.title for axes in drawing.axes if axes.get_title())
    assert clock.get_text() == f"{replay.times[frames[2]]:,.1f} s"
    height = drawing.get_window_extent().height
    assert clock.get_window_extent().y1 < height
    strips = [axes for axes in drawing.axes if axes.lines and axes.get_ylabel()]
    assert len({axes.get_ylabel() for axes in strips}) == len(strips) > 1
    for axes in strips:
        assert np.asarray(axes.lines[0].get_xdata()).tolist() == [replay.times[frames[2]]] * 2


def test_page_fetches_nothing(of_flows: Page) -> None:
    assert not re.search(r'(src|href)\s*=\s*"?(https?:)?//', of_flows.html)


def test_bad_input_is_refused(cli: CommandLine, campaign: Path, finished: longhaul.Results) -> None:
    nothing = cli("explore", "nowhere")
    assert (nothing.returncode, "nowhere" in nothing.stderr) == (2, True)
    written = cli("explore", finished.path, "--out", "page.html")
    assert (written.returncode, "page.html" in written.stdout) == (0, True)
    twice = cli("explore", finished.path, finished.path, "--out", "twice.html")
    assert (twice.returncode, "two runs are called r1" in twice.stderr) == (2, True)
    again = cli("explore", finished.path, "--out", "page.html")
    assert again.returncode != 0
    assert "page.html already exists" in again.stderr


def test_flows_are_related_to_the_links_that_they_take(tmp_path: Path) -> None:
    run = longhaul.run(
        ROOT / "scenarios/parking_lot.toml",
        out=tmp_path / "lot",
        set=["duration='2 s'", "measure={ every = '100 ms' }"],
    )
    page = Page(explore([run.path], tmp_path / "lot.html"))
    relation = page.catalogue["relations"][0]
    assert (relation["table"], relation["to"]) == ("flows", "links")
    flows, links = run.flows["name"].to_list(), run.links["name"].to_list()
    rows, others = (page.values(relation[name]).astype(int) for name in ("rows", "others"))
    taken: dict[str, list[str]] = {}
    for flow, link in zip(rows, others, strict=True):
        taken.setdefault(flows[flow], []).append(links[link])
    # Check the links of each flow's route in order.
    ends = {row["name"]: (row["from"], row["to"]) for row in run.links.iter_rows(named=True)}
    for flow in run.flows.iter_rows(named=True):
        assert ends[taken[flow["name"]][0]][0] == flow["from"]
        assert ends[taken[flow["name"]][-1]][1] == flow["to"]
    assert max(len(way) for way in taken.values()) > 1


TRACED = """
duration = "4 s"
[topology.dumbbell]
bottleneck = { rate = "10 Mbps", delay = "20 ms" }
[[flows]]
label = "gentle"
congestion = { kind = "ghstcp" }
trace_acks = true
[[flows]]
label = "bbr"
start = "1 s"
congestion = { kind = "bbr" }
trace_acks = true
[[flows]]
label = "beside"
congestion = { kind = "reno" }
"""


def test_traced_connections_have_curves_of_their_state(tmp_path: Path) -> None:
    run = longhaul.run(TRACED, out=tmp_path / "traced")
    page = Page(explore([run.path], tmp_path / "traced.html"))
    assert page.table("acks")["rows"] == 2
    times, gentle, error = page.curves("acks", "gentle")
    recorded = run.acks.filter(pl.col("quantity") == "gentle")
    for at, value in recorded.group_by("t_s").agg(pl.col("value").last()).iter_rows():
        assert gentle[0, np.searchsorted(times, at)] == pytest.approx(value, abs=error)
    assert np.isnan(gentle[1]).all(), "BBR has no such mode"
    _, window, _ = page.curves("acks", "cwnd")
    began = run.acks.filter(pl.col("name") == "bbr-0")["t_s"].min()
    assert np.isnan(window[1, times < began]).all()
    # Between its acknowledgements a connection keeps its window.
    assert np.isfinite(window[1, (times >= began) & (times <= times[-1] - 0.5)]).all()
    (series,) = (one for one in page.catalogue["series"] if one["table"] == "acks")
    units = {measure["name"]: measure["unit"] for measure in series["measures"]}
    assert units["bandwidth_segments_per_s"] == "segments/s"
    relation = next(one for one in page.catalogue["relations"] if one["table"] == "acks")
    assert page.values(relation["others"]).tolist() == [0, 1]


def test_traces_of_several_runs_belong_to_the_flows_of_their_run(tmp_path: Path) -> None:
    runs = [longhaul.run(TRACED, out=tmp_path / name) for name in ("one", "two")]
    page = Page(explore([run.path for run in runs], tmp_path / "both.html"))
    names = next(one for one in page.table("acks")["columns"] if one["name"] == "name")
    assert names["categories"] == ["one bbr-0", "one gentle-0", "two bbr-0", "two gentle-0"]
    relation = next(one for one in page.catalogue["relations"] if one["table"] == "acks")
    assert page.values(relation["others"]).tolist() == [0, 1, 3, 4]


def test_long_traces_are_thinned_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longhaul.explore.states.MAX_TIMES", 50)
    run = longhaul.run(TRACED, out=tmp_path / "traced")
    page = Page(explore([run.path], tmp_path / "traced.html"))
    times, window, error = page.curves("acks", "cwnd")
    assert len(times) == 50
    at = times[25]
    recorded = run.acks.filter(
        pl.col("quantity") == "cwnd", pl.col("name") == "gentle-0", pl.col("t_s") <= at
    )
    assert window[0, 25] == pytest.approx(recorded["value"][-1], abs=error)
    (note,) = (one["note"] for one in page.catalogue["series"] if one["table"] == "acks")
    assert note.startswith("Curves show 50 times of ")


def test_filled_share_of_a_link_is_its_queue_by_its_limit(tmp_path: Path) -> None:
    scenario = ROOT / "scenarios/one_flow.toml"
    limit = [
        "topology.dumbbell.bottleneck.queue.limit='40 packets'",
        "topology.dumbbell.bottleneck.rate='10 Mbps'",
    ]
    limit += ["duration='10 s'", "measure={ every = '100 ms' }"]
    run = longhaul.run(scenario, out=tmp_path / "one", set=limit)
    page = Page(explore([run.path], tmp_path / "one.html"))
    queue, share = (page.curves("links", name)[1] for name in ("queue_pkts", "queue_share"))
    assert queue.max() > 20
    np.testing.assert_allclose(share, queue / 40, atol=1e-4)


def test_long_lived_flows_are_related_to_the_routers_of_their_ends(
    mesonet: longhaul.Results, tmp_path: Path
) -> None:
    page = Page(explore([mesonet.path], tmp_path / "m.html"))
    relations = {one["table"]: one for one in page.catalogue["relations"]}
    topology = mesonet.table("topology")
    above = dict(topology.select("router", "above").iter_rows())
    routers = topology["router"].to_list()
    classes = relations["classes"]
    for row, other in zip(*(page.values(classes[one]) for one in ("rows", "others")), strict=True):
        kind = topology["class"][int(other)]
        column = next(one for one in page.table("classes")["columns"] if one["name"] == "class")
        name = column["categories"][int(page.values(column)[int(row)])]
        assert kind[0].upper() in name
    if "long-lived flows" in relations:
        others = page.values(relations["long-lived flows"]["others"]).astype(int)
        taken = {routers[other] for other in others}
        assert all(above[router] is None or above[router] in taken for router in taken)
