"""The command `longhaul window`, which plots congestion windows without a network."""

from pathlib import Path
from typing import Annotated, Any

import typer

from longhaul import _engine
from longhaul.cli.printing import plain_table, print_json, stdout
from longhaul.cli.shared import AsJson, Overwrite, Width, out_option, refuse_existing
from longhaul.files.endings import FIGURES, PAGES, check_file


def window(
    kinds: Annotated[
        list[str],
        typer.Argument(
            metavar="KIND...",
            help="Algorithms: names that `longhaul list` shows, my_cc.py, my_cc.py:MyCC, or "
            "tcp_mine.so.",
        ),
    ],
    loss_every: Annotated[
        int | None, typer.Option(metavar="N", help="Lose every N-th segment.")
    ] = None,
    loss: Annotated[
        float | None, typer.Option(metavar="P", help="Lose each segment with this probability.")
    ] = None,
    rounds: Annotated[int, typer.Option(help="Round trips.")] = 300,
    rtt: Annotated[str, typer.Option(help="Round-trip time, with its unit.")] = "100 ms",
    cwnd: Annotated[
        float | None,
        typer.Option(
            metavar="SEGMENTS",
            help="Begin in congestion avoidance with this window.",
            show_default="slow start",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random losses of --loss.", min=0)] = 1,
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PARAMETER=VALUE",
            help="Give a parameter to every KIND that has it; repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None, out_option("Plot to write: .svg, .png, .pdf or .html.", "window-<KIND>.svg")
    ] = None,
    width: Width = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Plot the congestion windows of algorithms per round trip, without a network.

    Each round trip acknowledges one window; the losses of a round trip reduce the window once. The
    command prints the mean window and the value of the response function. With --json, it prints
    every round, and draws only if --out is given.
    """
    if out is not None:
        check_file(out, (*FIGURES, *PAGES))
    from longhaul.models import windows

    experiment = windows.Experiment(
        loss_every, loss, rounds, rtt_s=_engine.seconds(rtt), cwnd=cwnd, seed=seed
    )
    target = out
    if target is None and not json:
        stem = "-".join(Path(kind.rpartition(":")[2]).stem for kind in kinds)
        target = Path(f"window-{stem}.svg")
    if target is not None:
        refuse_existing(target, overwrite=overwrite)
    drawn = windows.trajectories(kinds, experiment, set or ())
    if json:
        print_json(
            [
                trajectory.figures() | trajectory.rounds.to_dict(as_series=False)
                for trajectory in drawn
            ]
        )
    else:
        heads = ("", "mean cwnd", "min", "max", "reductions", "response function")
        rows = (_row(trajectory.figures()) for trajectory in drawn)
        stdout().print(plain_table(heads, rows, right=range(1, len(heads))))
    if target is not None:
        windows.save(drawn, experiment, target, width)
        if not json:
            typer.echo(target)


def _row(figures: dict[str, Any]) -> tuple[str, ...]:
    windows = (f"{figures[f'cwnd_{of}_pkts']:,.1f}" for of in ("mean", "min", "max"))
    response = figures["response_pkts"]
    expected = "" if response is None else f"{response:,.1f}"
    return (figures["name"], *windows, f"{figures['cuts']:,}", expected)
