"""Notebook about your own algorithm."""

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
    # Your own algorithm

    A class implements a rule for the congestion window. After a change of the class, the cells below show its share against CUBIC.
    The [tutorial](../tutorials/own-algorithm.md) does the same from the command line.
    """)
    return


@app.cell
def _():
    import matplotlib.pyplot as plt
    import polars as pl

    import longhaul
    from longhaul.congestion import Ack, Congestion, CongestionControl, Window

    return Ack, Congestion, CongestionControl, Window, longhaul, pl, plt


@app.cell
def _(mo):
    mo.md("""
    ## The rule

    Each round trip adds `gain` times the square root of the window; a loss reduces the window by a quarter. The simulator implements
    slow start, loss recovery and timeouts.
    """)
    return


@app.cell
def _(Ack, Congestion, CongestionControl, Window):
    class Root(CongestionControl):
        def __init__(self, gain: float = 0.3, decrease: float = 0.25) -> None:
            self.gain = gain
            self.decrease = decrease

        def on_round(self, ack: Ack, window: Window) -> float:
            """Return the segments that this round trip adds."""
            return max(1.0, self.gain * window.cwnd**0.5)

        def on_congestion(self, event: Congestion, window: Window) -> None:
            window.reduce_to(event.base * (1 - self.decrease))

    return (Root,)


@app.cell
def _(mo):
    mo.md("""
    ## Against CUBIC

    Arguments of the constructor are keys of the scenario.
    """)
    return


@app.cell
def _(Root, longhaul):
    def beside_cubic(gain: float) -> longhaul.Results:
        start = {"uniform": ["0 s", "2 s"]}
        return longhaul.run(
            {
                "duration": "60 s",
                "measure": {"from": "20 s", "every": "100 ms"},
                "topology": {
                    "dumbbell": {
                        "bottleneck": {
                            "rate": "100 Mbps",
                            "delay": "25 ms",
                            "queue": {"kind": "droptail", "limit": "1 BDP"},
                        }
                    }
                },
                "flows": [
                    {"label": "root", "congestion": {"python": Root, "gain": gain}, "start": start},
                    {"label": "cubic", "congestion": {"kind": "cubic"}, "start": start},
                ],
            }
        )

    run = beside_cubic(gain=0.3)
    run.flows.select("name", "goodput_bps", "rtt_mean_s", "cuts_loss")
    return beside_cubic, run


@app.cell
def _(plt, run):
    figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
    windows = run.series.filter(kind="flow")
    for name in windows["name"].unique(maintain_order=True):
        window = windows.filter(name=name)
        axes.plot(window["t_s"], window["cwnd_pkts"], linewidth=1, label=name)
    axes.set(xlabel="time (s)", ylabel="cwnd (segments)")
    axes.legend(frameon=False)
    figure
    return


@app.cell
def _(mo):
    mo.md("""
    ## Share as a function of the gain
    """)
    return


@app.cell
def _(beside_cubic, pl):
    def share(gain: float) -> float:
        goodput = beside_cubic(gain).flows["goodput_bps"]
        return goodput[0] / goodput.sum()

    shares = pl.DataFrame([{"gain": gain, "share": share(gain)} for gain in (0.05, 0.1, 0.2, 0.4)])
    shares
    return


if __name__ == "__main__":
    app.run()
