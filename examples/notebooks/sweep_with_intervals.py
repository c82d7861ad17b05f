"""Notebook about a sweep with intervals."""

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
    # A sweep with intervals

    This notebook measures CUBIC's additional goodput over standard TCP under random losses, with confidence intervals, for three loss
    rates and five seeds. A [campaign file](../campaigns.md) runs such a sweep on all cores and keeps finished runs; for twenty or
    thirty short runs a loop is sufficient.
    """)
    return


@app.cell
def _():
    import matplotlib.pyplot as plt
    import polars as pl

    import longhaul
    from longhaul.analysis.comparisons import mean_interval, paired

    return longhaul, mean_interval, paired, pl, plt


@app.cell
def _(mo):
    mo.md("""
    ## The runs

    `replication` draws other random numbers from the same seed. Both algorithms have the same replications, so that the same
    packets are lost, and flows start at the same times.
    """)
    return


@app.cell
def _(longhaul, pl):
    scenario = {
        "duration": "30 s",
        "measure": {"from": "10 s"},
        "topology": {
            "dumbbell": {
                "bottleneck": {
                    "rate": "50 Mbps",
                    "delay": "40 ms",
                    "queue": {"kind": "droptail", "limit": "1 BDP"},
                }
            }
        },
        "flows": [{"label": "flow", "start": {"uniform": ["0 s", "1 s"]}}],
    }

    def goodput(algorithm: str, loss: float, replication: int) -> float:
        settings = [
            f"flows.flow.congestion.kind={algorithm}",
            f"topology.dumbbell.bottleneck.loss.bernoulli={loss}",
            f"replication={replication}",
        ]
        return longhaul.run(scenario, set=settings).flows["goodput_bps"][0] / 1e6

    runs = pl.DataFrame(
        [
            {
                "loss": loss,
                "replication": replication,
                "algorithm": name,
                "Mbit/s": goodput(name, loss, replication),
            }
            for loss in (1e-4, 3e-4, 1e-3)
            for replication in range(5)
            for name in ("cubic", "reno")
        ]
    )
    pairs = runs.pivot("algorithm", index=["loss", "replication"], values="Mbit/s")
    pairs
    return (pairs,)


@app.cell
def _(mo):
    mo.md("""
    ## Means and differences, with 95 % intervals

    The interval of a difference is computed from the differences of pairs, in which common effects, such as the lost packets, cancel.
    If the interval does not contain zero, five seeds are sufficient to show a difference; otherwise more seeds are needed.
    """)
    return


@app.cell
def _(mean_interval, paired, pairs, pl):
    def row(loss: float) -> dict[str, float]:
        at = pairs.filter(pl.col("loss") == loss)
        cubic, reno = mean_interval(at["cubic"]), mean_interval(at["reno"])
        gain = paired(at["cubic"], at["reno"])
        return {
            "loss": loss,
            "cubic": cubic.mean,
            "reno": reno.mean,
            "gain": gain.mean,
            "gain from": gain.low,
            "gain to": gain.high,
        }

    gains = pl.DataFrame([row(loss) for loss in pairs["loss"].unique(maintain_order=True)])
    gains
    return (gains,)


@app.cell
def _(gains, pl, plt):
    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    reach = gains.select(
        below=pl.col("gain") - pl.col("gain from"), above=pl.col("gain to") - pl.col("gain")
    )
    axes.errorbar(gains["loss"], gains["gain"], yerr=reach.to_numpy().T, fmt="o", capsize=4)
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set(xscale="log", xlabel="loss rate", ylabel="CUBIC minus Reno (Mbit/s)")
    figure
    return


if __name__ == "__main__":
    app.run()
