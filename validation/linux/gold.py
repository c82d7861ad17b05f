"""Conversion of recordings into reference data (`gold`): values, windows, timing, settings.

Cases without a new recording keep their data. Of several recordings of a case, the one with the
fewest late packets is the reference, and the others are repeats. The first 56 cases already have a
reference from another recorder, so all new recordings of these cases are repeats.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from longhaul.files.rows import Row, read_rows, write_rows
from validation.linux.cases import Case
from validation.linux.catalogue import cases, first_cases
from validation.linux.figures import thinned
from validation.linux.kernel import Recording

GOLD = Path(__file__).parent / "gold"

OWN_RUN = 10
"""Number added to the run numbers of this recorder; runs up to 10 are from another recorder."""

DRAWN = 2
"""Maximum number of flows in a plot; if a case has more, only the first flow is drawn."""


def rows(name: str) -> list[Row]:
    """Return the rows of the table `name` of the reference data."""
    return read_rows(GOLD / name)


def collect(recordings: Path) -> None:
    """Convert all recordings below the directory `recordings`, and write them to `GOLD`."""
    first = {case.name for case in first_cases()}
    figures: list[Row] = []
    repeats: list[Row] = []
    windows: list[Row] = []
    timing: list[Row] = []
    for case in cases():
        kept = [file.parent for file in (recordings / case.name).glob("*/recording.json")]
        found_all = [(Recording.read(folder), int(folder.name)) for folder in kept]
        found_all.sort(key=lambda repeat: repeat[0].late_share())
        for place, (recording, run) in enumerate(found_all):
            timing.append(_timing(case, run, recording))
            rows = list(_figures(case, recording))
            if case.name in first or place > 0:
                late = recording.about["lateness"]
                about = {
                    "run": str(OWN_RUN + run),
                    "kernel_version": recording.about["kernel"].split("-")[0],
                    "late_mean_us": f"{late['mean_us']:.2f}",
                    "late_max_us": f"{late['max_us']:.1f}",
                }
                repeats += [{"case": case.name, **about, **row} for row in rows]
            else:
                figures += rows
                windows += _windows(case, recording)
            _write_settings(recording)
    _merge("figures.csv", figures, ("case",))
    _merge("repeats.csv", repeats, ("case", "run"))
    _merge("windows.csv", windows, ("case",))
    _merge("timing.csv", timing, ("case", "run"))


def _figures(case: Case, recording: Recording) -> Iterable[Row]:
    for (flow, figure), value in recording.figures(case).items():
        if not math.isnan(value):
            yield {
                "case": case.name,
                "flow": flow,
                "figure": figure,
                "kernel": f"{round(value, 4):g}",
            }


def _windows(case: Case, recording: Recording) -> Iterable[Row]:
    """Yield sparse samples of the windows that are plotted.

    If a case has more than `DRAWN` flows, only the first flow is plotted.
    """
    for number in range(len(case.flows) if len(case.flows) <= DRAWN else 1):
        samples = recording.samples.filter(pl.col("flow") == number)
        for time, cwnd in thinned(samples["t"].to_numpy(), samples["cwnd"].to_numpy()):
            row = {"case": case.name, "flow": str(number), "t_s": f"{time:g}"}
            yield row | {"cwnd_pkts": f"{cwnd:g}"}


def _timing(case: Case, run: int, recording: Recording) -> Row:
    late, ticks = recording.about["lateness"], recording.about["ticks"]
    all_ticks = sum(ticks.values())
    return {
        "case": case.name,
        "run": str(OWN_RUN + run),
        "late_mean_us": f"{late['mean_us']:.1f}",
        "late_max_us": f"{late['max_us']:.0f}",
        "late_over_1ms_share": f"{late['share_over_1ms']:.5f}",
        "busy_share": f"{ticks['used'] / all_ticks:.2f}",
        "stolen_share": f"{ticks['stolen'] / all_ticks:.3f}",
    }


def _write_settings(recording: Recording) -> None:
    settings = {"kernel": recording.about["kernel"], "sysctls": recording.about["sysctls"]}
    changed = {"tcp_rmem", "tcp_ecn"} & set(recording.about["case"]["sysctls"])
    if not changed:
        text = json.dumps(settings, indent=1) + "\n"
        (GOLD / "kernel.json").write_text(text, encoding="utf-8")


def _merge(name: str, new: list[Row], keys: tuple[str, ...]) -> None:
    """Write the rows `new` to the table `name`, in place of old rows with equal cells in `keys`.

    Rows are sorted by case and run.
    """
    if not new:
        return
    replaced = {tuple(row[key] for key in keys) for row in new}
    old = rows(name) if (GOLD / name).exists() else []
    kept = [row for row in old if tuple(row[key] for key in keys) not in replaced]
    order = {case.name: place for place, case in enumerate(cases())}
    merged = sorted([*kept, *new], key=lambda row: (order[row["case"]], int(row.get("run", 0))))
    write_rows(GOLD / name, merged, list(merged[0]))
