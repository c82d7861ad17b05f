"""Commands of fluid and hybrid models, and of closed forms for algorithms and paths."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from longhaul import _engine
from longhaul.cli.model import Out, Packet, Rate, Rtt, path_of, print_table, save_plot
from longhaul.cli.printing import print_json
from longhaul.cli.shared import AsJson, InputError, Overwrite, Width, refuse_existing
from longhaul.files.names import unknown
from longhaul.models import paths
from longhaul.models.dynamics import MODELLED
from longhaul.models.equilibrium import sweep
from longhaul.models.laws import LAWS, PRINTED, crossing
from longhaul.models.loss import AnickMitraSondhi, Link
from longhaul.models.scenario import fluid as model_of
from longhaul.running.execution import run_loaded
from longhaul.running.loading import load

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ALGORITHM]...", help="Names, as `longhaul list algorithms` shows them."
    ),
]
LAW_LOSSES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


def laws(
    names: Names = None,
    rate: Rate = "1 Gbps",
    rtt: Rtt = "100 ms",
    out: Out = None,
    width: Width = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Print response functions of loss-based algorithms: mean windows, crossover loss rates.

    The columns are: mean windows in segments at several loss rates; the loss rate at which the mean
    window fills the path; the loss rate below which the mean window exceeds standard TCP's (in
    JSON, 0 means never and 1 always); and the time in seconds to fill the path again after a loss.
    """
    from longhaul.models import plots

    chosen = names or list(LAWS)
    if others := [name for name in chosen if name not in LAWS]:
        raise InputError(unknown("algorithm", others[0], LAWS))
    rtt_s, full = path_of(rate, rtt)
    rows = []
    for name in chosen:
        law = LAWS[name]
        ahead = None if name == "reno" else crossing(law, LAWS["reno"], rtt_s) or 0.0
        try:
            loss = law.loss(full, rtt_s)
        except ValueError as error:
            raise InputError(f"--rate {rate} --rtt {rtt}: {error}") from None
        rows.append(
            {
                "algorithm": name,
                **{f"window_at_{p:g}": float(law.window(p, rtt_s)) for p in LAW_LOSSES},
                "loss_of_full_path": loss,
                "ahead_of_standard_below": ahead,
                "recovery_s": paths.recovery_s(name, full, rtt_s) if name in MODELLED else None,
            }
        )
    if json:
        print_json(rows)
    else:
        losses = [f"{p:g}" for p in LAW_LOSSES]
        heads = ("algorithm", *losses, "fills path at", "ahead below", "back after, s")
        formats = ("{}", *["{:,.1f}"] * len(losses), "{:.2e}", "{}", "{}")
        print_table(heads, formats, [_written(row) for row in rows])
    save_plot(lambda: plots.laws(chosen, rtt_s, full), out, width, overwrite=overwrite, quiet=json)


def _written(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row in which the values of the last two columns are texts.

    A missing value is a dash; 0 and 1 for `ahead_of_standard_below` are `never` and `always`.
    """
    ahead, back = row["ahead_of_standard_below"], row["recovery_s"]
    return row | {
        "ahead_of_standard_below": {None: "-", 0.0: "never", 1.0: "always"}.get(ahead)
        or f"{ahead:.2e}",
        "recovery_s": "-" if back is None else f"{back:,.1f}",
    }


def equilibrium(
    algorithm: Annotated[
        str, typer.Argument(metavar="ALGORITHM", help="One of reno, cubic, ctcp.")
    ],
    rate: Rate = "1 Gbps",
    flows: Annotated[float, typer.Option(help="Long-lived flows.", min=1)] = 1000,
    packet: Packet = 1024,
    rtt: Annotated[
        list[str] | None,
        typer.Option(
            "--rtt",
            help="Round-trip time of the empty path; repeatable.",
            show_default="50 to 300 ms",
        ),
    ] = None,
    buffer: Annotated[
        list[float] | None,
        typer.Option("--buffer", help="Buffer in packets; repeatable.", show_default="50 to 300"),
    ] = None,
    json: AsJson = False,
) -> None:
    """Print equilibria of response functions and loss models: NIST SP 500-282, tables A-1 to A-3.

    Rows are round-trip times, columns are buffers. Cells are the throughput of all flows together
    in packets per ms.
    """
    if algorithm not in PRINTED:
        raise InputError(unknown("algorithm", algorithm, PRINTED))
    buffers = buffer or [float(n) for n in range(50, 301, 50)]
    texts = rtt or [f"{n} ms" for n in range(50, 301, 50)]
    for size in buffers:
        rtts = [path_of(rate, text, packet, flows=flows, buffer=size)[0] for text in texts]
    link = Link(_engine.bits_per_second(rate) / 8.0 / packet, buffers[0], rtts[0], flows)
    try:
        table = sweep(PRINTED[algorithm].window, AnickMitraSondhi(), link, rtts, buffers)
    except ValueError as error:
        raise InputError(str(error)) from None
    if json:
        print_json(
            [
                {"rtt_s": t, "buffer_pkts": b, **vars(at)}
                for t, row in zip(rtts, table, strict=True)
                for b, at in zip(buffers, row, strict=True)
            ]
        )
        return
    heads = ("round trip", *(f"{b:g}" for b in buffers))
    rows = [
        (f"{1e3 * t:g} ms", *(at.throughput_pps / 1e3 for at in row))
        for t, row in zip(rtts, table, strict=True)
    ]
    print_table(heads, ("{}", *["{:.1f}"] * len(buffers)), rows)


def hybrid(
    buffer: Annotated[
        list[int] | None,
        typer.Option(
            "--buffer", help="Buffer in packets; repeatable.", show_default="25000 to 200000"
        ),
    ] = None,
    routers: Annotated[
        str, typer.Option(help="per-link: a queue per link; shared: one per router, as in MesoNet.")
    ] = "per-link",
    hours: Annotated[float, typer.Option(help="Simulated hours.")] = 11.0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 1,
    out: Out = None,
    width: Width = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Simulate three sets of ten flows over Abilene (hybrid model; NIST SP 500-282, appendix B).

    The table has the mean throughput per flow and the mean round-trip time of each set, the ratio
    of throughputs FR of sets 1 and 3, the ratio of round-trip times RR of sets 3 and 1, the
    utilisation, and the number of window reductions per flow and hour.
    """
    from longhaul.models import abilene_lee, plots

    if routers not in abilene_lee.ROUTERS:
        raise InputError(f"--routers {routers}: expected one of {', '.join(abilene_lee.ROUTERS)}")
    if not 1 <= hours * 60 < inf:
        raise InputError(f"--hours {hours:g}: expected at least a minute, finite")
    runs = [
        abilene_lee.run(packets, routers=routers, hours=hours, seed=seed)[0]
        for packets in buffer or abilene_lee.BUFFERS
    ]
    if json:
        print_json([vars(run) for run in runs])
    else:
        rows = [
            (
                run.buffer_pkts, *(x / 1e3 for x in run.throughput_pps[:3]),
                *(t * 1e3 for t in run.rtt_s[:3]), run.throughput_ratio(1, 3), run.rtt_ratio(3, 1),
                run.utilisation, run.reductions_per_flow_h,
            )
            for run in runs
        ]  # fmt: skip
        heads = ("buffer", "packets/ms: 1", "2", "3", "ms: 1", "2", "3", "FR(1,3)", "RR(3,1)",
                 "utilisation", "reductions per flow and hour")  # fmt: skip
        forms = ("{:,}", *["{:.2f}"] * 3, *["{:.1f}"] * 3, "{:.2f}", "{:.2f}", "{:.1%}", "{:.1f}")
        print_table(heads, forms, rows)
    save_plot(lambda: plots.sets(runs), out, width, overwrite=overwrite, quiet=json)


def fluid(
    scenario: Annotated[Path, typer.Argument(metavar="FILE", help="Scenario file.")],
    out: Out = None,
    width: Width = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Print the equilibrium of a scenario's fluid model, and its stability.

    An error names the keys of a scenario that the model cannot represent. The stability margin is
    the factor by which all losses, or the slope of a marking function, can be multiplied before the
    equilibrium is unstable. The margin is below 1 if the equilibrium is unstable, and limited to
    the range from 1e-4 to 1e4.
    """
    from longhaul.models import fluid_comparison, plots, stability

    scene = model_of(load(scenario))
    said: dict[str, Any] = {"classes": [], "links": [], "stable": None, "margin": None}
    try:
        at = stability.equilibrium(scene.model)
    except ValueError as error:
        said["equilibrium"] = str(error)
    else:
        linear = stability.linearised(scene.model, at)
        said["classes"] = [
            {"label": label, "window_pkts": w}
            for label, w in zip(scene.labels, at.window_pkts, strict=True)
        ]
        said["links"] = [
            {"link": name, "queue_pkts": q, "loss": p}
            for name, q, p in zip(scene.links, at.queue_pkts, at.loss, strict=True)
        ]
        rightmost = linear.rightmost()
        said["rightmost_root"] = [rightmost.real, rightmost.imag]
        if abs(rightmost.real) > 1e-9:
            said["stable"] = rightmost.real < 0.0
            said["margin"] = stability.gain_margin(linear)
    if json:
        print_json(said)
    else:
        _print_equilibrium(said)
    save_plot(
        lambda: plots.trajectory(scene.labels, scene.links, fluid_comparison.solve(scene)),
        out, width, overwrite=overwrite, quiet=json,
    )  # fmt: skip


def _print_equilibrium(said: dict[str, Any]) -> None:
    if "equilibrium" in said:
        typer.echo(said["equilibrium"])
        return
    print_table(("flows", "window"), ("{}", "{:,.1f}"), said["classes"])
    print_table(("link", "queue", "loss rate"), ("{}", "{:,.1f}", "{:.2e}"), said["links"])
    if said["stable"] is None:
        typer.echo("a characteristic root is zero: the linear test says nothing")
        return
    verdict = "stable" if said["stable"] else "not stable"
    typer.echo(f"{verdict}; losses may be multiplied by {said['margin']:.3g}")


def path(
    rate: Rate = "1 Gbps",
    rtt: Rtt = "100 ms",
    flows: Annotated[int, typer.Option(help="Flows that share the path.", min=1)] = 100,
    packet: Packet = 1500,
    json: AsJson = False,
) -> None:
    """Print closed forms of a path: its BDP, buffer sizing rules, loss-free transfers.

    One table has the utilisation by synchronised flows for buffers of 0.1 to 1 BDP. The other table
    has the goodput of transfers that lose no packet.
    """
    rtt_s, bdp = path_of(rate, rtt, packet)
    said: dict[str, Any] = {
        "bdp_pkts": bdp,
        "full_buffer_pkts": paths.full_buffer(bdp),
        "shared_buffer_pkts": paths.shared_buffer(bdp, flows),
        "tiny_buffer_pkts": paths.tiny_buffer(bdp),
        "utilisation_in_step": {
            f"{f:g} BDP": paths.utilisation(f, 1.0) for f in (0.1, 0.2, 0.5, 1)
        },
        "loss_free_goodput_pps": {
            f"{n:,} packets": paths.loss_free_goodput(n, rtt_s, bdp / rtt_s)
            for n in (10, 100, 1000, 10_000, 100_000)
        },
    }
    if json:
        print_json(said)
        return
    typer.echo(
        f"path: {bdp:,.0f} packets; buffers: {said['full_buffer_pkts']:,.0f} for one flow, "
        f"{said['shared_buffer_pkts']:,.0f} for {flows} desynchronised flows, "
        f"{said['tiny_buffer_pkts']:.0f} times a constant if paced"
    )
    shares, goodputs = said["utilisation_in_step"], said["loss_free_goodput_pps"]
    print_table(("buffer", "utilisation, synchronised"), ("{}", "{:.1%}"), shares.items())
    print_table(("transfer without losses", "packets/s"), ("{}", "{:,.0f}"), goodputs.items())


def beside_packets(
    scenarios: list[Path],
    model: str,
    plot: Path | None,
    width: float | None,
    *,
    overwrite: bool,
    json: bool,
) -> None:
    """Simulate a scenario, solve its fluid model, and print a comparison of both results.

    This is `longhaul compare --with fluid`. `scenarios` must have one scenario file, and `model`
    must be `fluid`. A plot of both results is written to `plot` if given.
    """
    from longhaul.models import fluid_comparison

    if model != "fluid":
        raise InputError(f"--with {model}: expected fluid")
    if len(scenarios) != 1:
        raise InputError("--with fluid takes one scenario file")
    scenario = load(scenarios[0])
    scene = model_of(scenario)
    if plot is not None:
        refuse_existing(plot, overwrite=overwrite)
    results = run_loaded(scenario, out=None)
    trajectory = fluid_comparison.solve(scene)
    pairs = fluid_comparison.compare(scene, trajectory, results)
    if json:
        print_json([pair.as_json() for pair in pairs])
    else:
        rows = [{**vars(pair), "difference": f"{pair.difference:+.1%}"} for pair in pairs]
        heads = ("of", "mean", "packets", "fluid", "difference")
        print_table(heads, ("{}", "{}", "{:.6g}", "{:.6g}", "{}"), rows)
    save_plot(
        lambda: fluid_comparison.picture(scene, trajectory, results),
        plot, width, overwrite=overwrite, quiet=json,
    )  # fmt: skip
