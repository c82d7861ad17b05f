"""The explorer's page in a browser: linked views, links that restore views, no errors."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from browsing import (
    TALL,
    Open,
    browser,
    campaign,
    count,
    drag,
    idle,
    network,
    opened,
    pictures,
    settle,
)

import longhaul
from longhaul.campaign.dataset import Dataset
from longhaul.explore import explore

__all__ = ["browser", "campaign", "idle", "network", "opened"]


def test_brush_in_one_view_is_seen_in_all_others(opened: Open, campaign: Path) -> None:
    page = opened(campaign, height=TALL)
    views = {"scatter": ((0.1, 0.05), (0.45, 0.9)), "parallel": ((0.04, 0.2), (0.04, 0.5)),
             "distribution": ((0.1, 0.5), (0.5, 0.6)), "heatmap": ((0.5, 0.2), (0.5, 0.4)),
             "residuals": ((0.08, 0.1), (0.45, 0.9))}  # fmt: skip
    for view, (start, end) in views.items():
        before = pictures(page)
        drag(page, view, start, end)
        assert 0 < count(page) < 64, view
        after = pictures(page)
        unchanged = [other for other in before if before[other] == after[other]]
        assert unchanged == [], view
        page.click("#clear")
        settle(page)
        assert count(page) == 64


def test_factor_that_matters_stands_first(opened: Open, campaign: Path) -> None:
    page = opened(campaign)
    # The first panel shows two levels of loss; a click on the lower one selects its runs.
    canvas = page.locator("#view-effects canvas")
    box = canvas.bounding_box()
    canvas.click(position={"x": 62 + (box["width"] - 74) / 3 * 0.15, "y": box["height"] / 2})
    settle(page)
    assert count(page) == 32
    assert page.inner_text("#filters").startswith("loss")


def test_link_restores_selection_and_views(opened: Open, campaign: Path) -> None:
    page = opened(campaign, height=TALL)
    page.select_option("#view-scatter select[aria-label=y]", "y7_bps")
    drag(page, "scatter", (0.1, 0.05), (0.45, 0.9))
    page.locator("#view-rows tbody tr[data-row]").first.click()
    settle(page)
    selected, shown = count(page), pictures(page)
    assert 0 < selected < 64
    page.click("#link")
    page.wait_for_function("location.hash.length > 1")
    again = opened(campaign, page.evaluate("location.hash"), height=TALL)
    assert count(again) == selected
    assert again.input_value("#view-scatter select[aria-label=y]") == "y7_bps"
    restored = pictures(again)
    assert {view for view in shown if shown[view] != restored[view]} == set()


def test_damaged_link_shows_the_page_as_it_is(opened: Open, campaign: Path) -> None:
    assert count(opened(campaign, "#nonsense")) == 64


def test_selected_rows_are_kept_as_files(opened: Open, campaign: Path, tmp_path: Path) -> None:
    page = opened(campaign)
    drag(page, "scatter", (0.1, 0.05), (0.45, 0.9))
    tables = {}
    for kind, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        with page.expect_download() as kept:
            page.click(f"#{kind}")
        file = tmp_path / f"kept.{kind}"
        kept.value.save_as(file)
        tables[kind] = read(file)
    assert tables["csv"].height == tables["parquet"].height == count(page)
    recorded = pl.read_parquet(campaign.parent / "results.parquet")
    for table in tables.values():
        joined = table.select("run", "y3_bps").join(
            recorded.select(pl.col("run").cast(table["run"].dtype), real="y3_bps"), on="run"
        )
        assert joined["y3_bps"].to_list() == joined["real"].to_list()


def test_pictures_are_kept_as_svg_and_png(opened: Open, campaign: Path, tmp_path: Path) -> None:
    page = opened(campaign)
    for kind, begins in (("SVG", b"<svg xmlns"), ("PNG", b"\x89PNG")):
        for view in ("parallel", "scatter", "effects", "heatmap"):
            with page.expect_download() as kept:
                page.click(f'#view-{view} button[aria-label="Keep the picture as {kind}"]')
            file = tmp_path / f"{view}.{kind}"
            kept.value.save_as(file)
            assert file.read_bytes().startswith(begins)
    assert "goodput" not in (tmp_path / "scatter.SVG").read_text()
    assert "y0_bps" in (tmp_path / "scatter.SVG").read_text()


def test_router_picked_in_the_network_is_followed_everywhere(opened: Open, network: Path) -> None:
    page = opened(network, height=TALL)
    before = pictures(page)
    catalogue = json.loads(page.locator("#catalogue").inner_text().replace("<\\/", "</"))
    nodes = catalogue["networks"][0]["nodes"]
    at = next(number for number, node in enumerate(nodes) if node["tier"] == 2)
    canvas = page.locator("#view-network canvas")
    box = canvas.bounding_box()
    x = 24 + nodes[at]["x"] * (box["width"] - 72)
    y = 46 + nodes[at]["y"] * (box["height"] - 64)
    canvas.click(position={"x": x, "y": y})
    settle(page)
    assert count(page) == 1
    assert nodes[at]["name"] in page.inner_text("#filters")
    after = pictures(page)
    assert [view for view in before if before[view] == after[view]] == []


def test_network_is_played_and_stopped_at_losses(opened: Open, network: Path) -> None:
    page = opened(network)
    time = "#view-network output"
    start = page.inner_text(time)
    page.click('#view-network button[aria-label^="Play"]')
    page.wait_for_function(f'document.querySelector("{time}").innerText != "{start}"')
    page.click('#view-network button[aria-label^="Play"]')
    page.fill("#view-network input[type=range]", "0")
    page.click('#view-network button[aria-label^="Go on"]')
    stopped = float(page.inner_text(time).split()[0])
    routers = longhaul.open(network.parent / "m1").table("routers")
    losing = routers.filter(pl.col("dropped_up_pkts") + pl.col("dropped_down_pkts") > 0)
    later = losing.filter(pl.col("t_s") > routers["t_s"].min())
    assert stopped == pytest.approx(later["t_s"].min())
    page.keyboard.press("ArrowRight")
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    assert float(page.inner_text(time).split()[0]) > stopped


def test_curves_through_a_box_are_selected(opened: Open, network: Path) -> None:
    page = opened(network)
    drag(page, "curves", (0.3, 0.2), (0.9, 0.6))
    some = count(page)
    routers = longhaul.open(network.parent / "m1").table("topology").height
    assert 0 < some < routers


def test_page_of_a_phone_has_no_sideways_scrolling(opened: Open, network: Path) -> None:
    page = opened(network, width=380)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_another_table_is_shown_with_its_views(opened: Open, network: Path) -> None:
    page = opened(network)
    page.select_option("#choices select[aria-label=Table]", "classes")
    page.wait_for_selector("body[data-ready=classes]")
    settle(page)
    # The routers' views stay on the page, and show the selected classes.
    assert page.locator("#view-network").count() == 1
    assert page.locator("#view-curves-routers").count() == 1
    assert count(page) == 6


def test_filter_is_the_same_on_another_scale_and_in_its_link(opened: Open, campaign: Path) -> None:
    page = opened(campaign)
    drag(page, "distribution", (0.1, 0.5), (0.4, 0.6))
    selected = count(page)
    assert 0 < selected < 64
    page.evaluate(
        """() => document.querySelectorAll("#choices .checks input").forEach(box => box.click())"""
    )
    settle(page)
    assert count(page) == selected
    page.click("#link")
    page.wait_for_function("location.hash.length > 1")
    assert count(opened(campaign, page.evaluate("location.hash"))) == selected


def test_link_of_another_page_is_refused(opened: Open, campaign: Path, network: Path) -> None:
    page = opened(network)
    page.click("#link")
    page.wait_for_function("location.hash.length > 1")
    other = opened(campaign, page.evaluate("location.hash"))
    assert count(other) == 64
    assert "of another page" in other.inner_text("#note")


def test_other_button_and_escape_leave_nothing_selected(opened: Open, campaign: Path) -> None:
    page = opened(campaign)
    canvas = page.locator("#view-scatter canvas")
    canvas.evaluate("element => element.scrollIntoView({block: 'center'})")
    box = canvas.bounding_box()
    for button in ("right", "left"):
        page.mouse.move(box["x"] + 80, box["y"] + 60)
        page.mouse.down(button=button)
        page.mouse.move(box["x"] + 200, box["y"] + 200, steps=3)
        page.keyboard.press("Escape")
        page.mouse.move(box["x"] + 260, box["y"] + 220, steps=3)
        page.mouse.up(button=button)
        settle(page)
        assert count(page) == 64


def test_second_level_of_a_factor_is_added(opened: Open, campaign: Path) -> None:
    page = opened(campaign)
    canvas = page.locator("#view-effects canvas")
    width = (canvas.bounding_box()["width"] - 74) / 3
    for part, rows in ((0.15, 32), (0.85, 64), (0.15, 32)):
        canvas.click(position={"x": 62 + width * part, "y": 100})
        settle(page)
        assert count(page) == rows


def test_table_is_found_again_as_it_was_left(opened: Open, network: Path) -> None:
    page = opened(network)
    drag(page, "scatter", (0.3, 0.05), (0.98, 0.8))
    selected = count(page)
    page.select_option("#choices select[aria-label=Table]", "classes")
    page.wait_for_selector("body[data-ready=classes]")
    page.select_option("#choices select[aria-label=Table]", "routers")
    page.wait_for_selector("body[data-ready=routers]")
    settle(page)
    assert count(page) == selected


def test_brush_over_time_is_seen_in_all_views_of_a_network(opened: Open, network: Path) -> None:
    page = opened(network, height=TALL)
    before = pictures(page)
    drag(page, "carpet", (0.4, 0.15), (0.9, 0.3))
    assert 0 < count(page) < 20
    after = pictures(page)
    assert [view for view in before if before[view] == after[view]] == []


def test_picture_of_who_has_any_shows_the_first_losses_on_top(opened: Open, network: Path) -> None:
    page = opened(network)
    routers = longhaul.open(network.parent / "m1").table("routers")
    dropped = pl.col("dropped_up_pkts") + pl.col("dropped_down_pkts")
    firsts = routers.filter(dropped > 0).group_by("router").agg(pl.col("t_s").min())
    losing = firsts.height
    all_routers = longhaul.open(network.parent / "m1").table("topology").height
    canvas = page.locator("#view-carpet canvas")
    canvas.evaluate("element => element.scrollIntoView({block: 'center'})")
    # A click at a name picks it.
    canvas.click(position={"x": 40, "y": 24})
    settle(page)
    assert count(page) == 1
    picked = page.inner_text("#filters").split()[0]
    earliest = firsts.filter(pl.col("t_s") == firsts["t_s"].min())["router"].to_list()
    assert picked in earliest
    assert losing < all_routers


def test_brush_with_keys_alone(opened: Open, campaign: Path) -> None:
    page = opened(campaign)
    for view in ("scatter", "distribution", "parallel"):
        page.locator(f"#view-{view} canvas").focus()
        # Parallel coordinates have their first axis at the left.
        for _ in range(60 if view == "parallel" else 0):
            page.keyboard.press("ArrowLeft")
        if view == "parallel":
            for _ in range(4):
                page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        for _ in range(14):
            page.keyboard.press("ArrowRight" if view != "parallel" else "ArrowDown")
            page.keyboard.press("ArrowUp" if view == "scatter" else "ArrowDown")
        assert page.locator(f"#view-{view} .cross.drags").count() == 1
        page.keyboard.press("Space")
        settle(page)
        assert 0 < count(page) < 64, view
        page.keyboard.press("Escape")
        settle(page)
        assert count(page) == 64
    page.locator("#view-scatter canvas").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#view-scatter .cross").is_visible()


def test_legend_keeps_groups(opened: Open, campaign: Path) -> None:
    page = opened(campaign)
    page.click("#legend button:has-text('cubic')")
    settle(page)
    assert count(page) == 16
    page.click("#legend button:has-text('reno')")
    settle(page)
    assert count(page) == 32


def test_flow_and_link_are_followed_into_each_other(opened: Open, tmp_path: Path) -> None:
    scenario = Path(__file__).parents[2] / "scenarios/parking_lot.toml"
    settings = ["duration='2 s'", "measure={ every = '100 ms' }"]
    run = longhaul.run(scenario, out=tmp_path / "lot", set=settings)
    page = opened(explore([run.path], tmp_path / "lot.html"), height=TALL)
    before = pictures(page)
    assert {"view-network", "view-curves-links"} <= set(before)
    page.click("#view-rows tr[data-row='1']")
    settle(page)
    picked = pictures(page)
    for view in ("network", "curves", "curves-links", "carpet"):
        assert picked[f"view-{view}"] != before[f"view-{view}"], view
    assert "of 1 selected" in page.inner_text("#view-network .now")
    page.keyboard.press("Escape")
    settle(page)
    # The second hop carries its own flow and the flow over all hops.
    drag(page, "network", (0.4, 0.1), (0.6, 0.9))
    assert count(page) == 2
    assert "of hop-1" in page.inner_text("#filters")
    page.click("#link")
    again = opened(tmp_path / "lot.html", page.evaluate("location.hash"), height=TALL)
    assert count(again) == 2
    assert pictures(again)["view-network"] == pictures(page)["view-network"]
    page.keyboard.press("Escape")
    settle(page)
    assert pictures(page) == before


def test_nothing_selected_is_said_in_every_view(opened: Open, campaign: Path) -> None:
    page = opened(campaign, height=TALL)
    assert page.locator(".nothing:visible").count() == 0
    # Offsets from the first card, since filters may add a line to the page's heading.
    tops = """(() => {
        const cards = [...document.querySelectorAll(".card")];
        return cards.map(one => one.offsetTop - cards[0].offsetTop);
    })()"""
    places = page.evaluate(tops)
    # These two filters exclude all runs, since no run has both algorithms.
    page.click("#legend button:has-text('cubic')")
    page.select_option("#choices select[aria-label=Colour]", "loss")
    page.click("#view-parallel .finder summary")
    drag(page, "boxes", (0.02, 0.1), (0.03, 0.1))
    drag(page, "scatter", (0.3, 0.02), (0.31, 0.03))
    assert count(page) == 0
    said = page.locator(".nothing:visible")
    assert said.count() == page.locator(".card").count()
    assert "no row passes all of these together" in said.first.inner_text()
    assert "algorithm cubic" in said.first.inner_text()
    assert "Escape" in said.first.inner_text()
    # Views do not move while a brush is active.
    now = page.evaluate(tops)
    assert now == pytest.approx(places, abs=2)
    page.keyboard.press("Escape")
    settle(page)
    assert count(page) == 64
    assert page.locator(".nothing:visible").count() == 0


def test_column_is_found_by_what_it_means(opened: Open, network: Path) -> None:
    page = opened(network)
    page.click("#view-parallel .finder summary")
    page.fill("#view-parallel .finder input[type=search]", "end of the last interval")
    shown = page.locator("#view-parallel .finder label:visible")
    assert [text.split()[0] for text in shown.all_inner_texts()] == ["last_drop_s"]
    page.keyboard.press("Escape")
    assert not shown.count()
    page.click("#view-scatter .choice:has(select[aria-label=y]) .finder summary")
    page.fill("#view-scatter .choice:has(select[aria-label=y]) input[type=search]", "buffer mean")
    page.click("#view-scatter .finder button:has-text('queue_share_mean'):visible")
    assert page.input_value("#view-scatter select[aria-label=y]") == "queue_share_mean"
    about = page.get_attribute("#view-scatter select[aria-label=y]", "title")
    assert "part of the buffer that is filled, mean over all intervals" in about


def test_kept_pictures_say_what_they_show(opened: Open, campaign: Path, tmp_path: Path) -> None:
    page = opened(campaign)
    page.click("#legend button:has-text('cubic')")
    settle(page)
    with page.expect_download() as kept:
        page.click('#view-scatter button[aria-label="Keep the picture as SVG"]')
    file = tmp_path / "scatter.svg"
    kept.value.save_as(file)
    text = file.read_text()
    for said in ("Scatter: x y0_bps, y y1_bps", "64 runs", "16 of 64 rows selected: algorithm",
                 "coloured by algorithm:", ">hstcp<", ">bbr3<"):  # fmt: skip
        assert said in text, said


def test_losses_are_said_from_when_to_when(opened: Open, network: Path) -> None:
    page = opened(network)
    routers = longhaul.open(network.parent / "m1").table("routers")
    topology = longhaul.open(network.parent / "m1").table("topology")
    dropped = pl.col("dropped_up_pkts") + pl.col("dropped_down_pkts")
    access = topology.filter(pl.col("tier") == "access")["router"].to_list()
    losing = routers.filter(dropped > 0, pl.col("router").is_in(access))
    line = page.locator("#view-carpet .when tr.group", has_text="access").inner_text().split("\t")
    assert line[1] == f"{losing['router'].n_unique()} of {len(access)} have any"
    times = [losing["t_s"].to_numpy().min(), losing["t_s"].to_numpy().max()]
    assert [float(text) for text in line[2:4]] == pytest.approx(times)
    assert int(line[4]) == losing["t_s"].n_unique()
    page.locator("#view-carpet .when tr.group", has_text="access").click()
    settle(page)
    assert count(page) == len(access)


def test_one_algorithm_has_no_residuals(opened: Open, tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    frame = pl.DataFrame(
        {"run": range(1, 17), "replication": [1] * 16, "algorithm": ["reno"] * 16}
        | {"loss": [1e-5, 1e-3] * 8, "rtt": [5, 5, 50, 50] * 4}
        | {name: random.normal(size=16) for name in ("goodput", "queue_pkts")}
    )
    factors = {"algorithm": ["reno"], "loss": [1e-5, 1e-3], "rtt": [5, 50]}
    facts = {"title": "One", "factors": factors, "responses": ["goodput", "queue_pkts"],
             "runs": 16, "wanted": 32, "results_version": 1}  # fmt: skip
    Dataset(frame, facts).write(tmp_path / "results.parquet")
    page = opened(explore([tmp_path], tmp_path / "page.html"), height=TALL)
    assert "choose above who competes" in page.inner_text("#view-residuals .lacks")
    assert not page.locator("#view-residuals canvas").is_visible()
    assert "16 of 32 runs" in page.inner_text("#there.partial")
    page.click(".not-shown summary")
    assert "keep" in page.inner_text(".not-shown")
    # A user may choose the loss rate as the competing factor.
    page.select_option("#view-residuals select[aria-label=competitors]", "loss")
    settle(page)
    assert page.locator("#view-residuals canvas").is_visible()
    assert not page.locator("#view-residuals .lacks").is_visible()


def test_cut_name_is_said_in_full_where_it_is_pointed_at(opened: Open, tmp_path: Path) -> None:
    long = "a_name_that_no_axis_of_a_phone_has_room_for_s"
    frame = pl.DataFrame({long: np.arange(40.0), f"{long}2": np.arange(40.0) ** 2})
    frame.write_parquet(tmp_path / "t.parquet")
    page = opened(explore([tmp_path / "t.parquet"], tmp_path / "t.html"), width=380)
    canvas = page.locator("#view-parallel canvas")
    canvas.evaluate("element => element.scrollIntoView({block: 'center'})")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 14)
    assert page.inner_text(".tooltip").startswith(long)
