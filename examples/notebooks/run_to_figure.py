"""Notebook from a run to a figure in pandas."""

import marimo

__generated_with = "0.25.2"
app = marimo.App()


@app.cell
def _():
    import marimo as mo

    return (mo,)


@app.cell
def _(mo):
    mo.md("""
    # From a run to a figure in pandas

    A run writes tables in Parquet, which pandas reads. This notebook measures the time in which HighSpeed TCP regains its window
    after a loss, compared with standard TCP on the same link.
    """)
    return


@app.cell
def _():
    import tempfile
    from pathlib import Path

    import matplotlib.pyplot as plt
    import pandas as pd

    import longhaul

    return Path, longhaul, pd, plt, tempfile


@app.cell
def _(mo):
    mo.md("""
    ## The run

    A scenario may be a dictionary, with the keys of a scenario file. `events` adds a table of window reductions with
    their causes.
    """)
    return


@app.cell
def _(Path, longhaul, tempfile):
    scenario = {
        "duration": "120 s",
        "measure": {"from": "20 s", "every": "100 ms", "events": True},
        "topology": {
            "dumbbell": {
                "bottleneck": {
                    "rate": "400 Mbps",
                    "delay": "40 ms",
                    "queue": {"kind": "droptail", "limit": "0.5 BDP"},
                }
            }
        },
        "flows": [
            {"label": "hstcp", "congestion": {"kind": "hstcp"}},
            {"label": "reno", "congestion": {"kind": "reno"}},
        ],
    }
    folder = Path(tempfile.mkdtemp()) / "run"
    longhaul.run(scenario, out=folder)
    sorted(file.name for file in folder.iterdir())
    return (folder,)


@app.cell
def _(mo):
    mo.md("""
    ## Means of the measurement window

    `flows.parquet` has a row for each flow. The end of a column's name is its unit.
    """)
    return


@app.cell
def _(folder, pd):
    flows = pd.read_parquet(folder / "flows.parquet").set_index("name")
    flows[["goodput_bps", "rtt_mean_s", "retransmitted_pkts", "cuts_loss"]]
    return (flows,)


@app.cell
def _(mo):
    mo.md("""
    ## Time to regain the window

    Each row of `events.parquet` with the event `cut` is a reduction of a window. The time until the window has its
    previous size again is computed from the series.
    """)
    return


@app.cell
def _(folder, pd):
    series = pd.read_parquet(folder / "series.parquet", filters=[("kind", "==", "flow")])
    windows = series.pivot_table(index="t_s", columns="name", values="cwnd_pkts")
    events = pd.read_parquet(folder / "events.parquet")
    cuts = events[(events["event"] == "cut") & (events["t_s"] > 20)]

    def regrown_s(cut):
        later = windows.loc[cut["t_s"] :, cut["name"]]
        reached = later[later >= cut["cwnd_before_pkts"]]
        return reached.index[0] - cut["t_s"] if len(reached) else None

    regrown = cuts.assign(regrown_s=cuts.apply(regrown_s, axis="columns"))
    regrown.groupby("name")["regrown_s"].agg(["count", "median"])
    return regrown, windows


@app.cell
def _(mo):
    mo.md("""
    ## The figure
    """)
    return


@app.cell
def _(plt, regrown, windows):
    figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
    for name in windows:
        axes.plot(windows.index, windows[name], linewidth=1, label=name)
    axes.plot(regrown["t_s"], regrown["cwnd_before_pkts"], "kv", markersize=4, label="cut")
    axes.set(xlabel="time (s)", ylabel="cwnd (segments)", xlim=(20, 120))
    axes.legend(frameon=False)
    figure
    return


if __name__ == "__main__":
    app.run()
