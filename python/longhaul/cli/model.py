"""Commands `longhaul model response` and `longhaul model parallel-tcp`, and shared options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from math import ceil, floor, inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longhaul import _engine
from longhaul.cli.printing import plain_table, print_json, stdout
from longhaul.cli.shared import AsJson, InputError, Overwrite, Width, refuse_existing
from longhaul.files.endings import FIGURES, check_file
from longhaul.files.names import unknown
from longhaul.models import parallel_tcp as parallel
from longhaul.models import response as responses

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _picture(out: Path | None) -> Path | None:
    """Return `out`; raise an error if its suffix is not that of a plot, before any computation."""
    return None if out is None else check_file(out, FIGURES)


Out = Annotated[
    Path | None,
    typer.Option(
        "--plot", "--out", "-o", callback=_picture, help="Plot to write: .svg, .png or .pdf."
    ),
]
Rate = Annotated[str, typer.Option(help="The link's rate, with its unit.")]
Rtt = Annotated[str, typer.Option(help="Round-trip time of the empty path, with its unit.")]
Packet = Annotated[float, typer.Option(help="Size of a packet, bytes.")]

LOSSES = [10.0**-k for k in range(1, 11)]
# Larger low windows have almost the loss rate of the high window, 1e-7. Powers of the response
# function then overflow, and from 3800 segments on it would rise with the loss rate.
MAX_LOW_WINDOW = 3600
WINDOWS = [38, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 83_000]


def response(
    form: Annotated[
        str, typer.Option(help=f"Form of HighSpeed TCP: {', '.join(responses.FORMS)}.")
    ] = "rfc3649",
    low_window: Annotated[
        float | None,
        typer.Option(help="Low window of rfc3649 and ns2, in segments.", show_default="38"),
    ] = None,
    rate: Rate = "1 Gbps",
    rtt: Rtt = "100 ms",
    out: Out = None,
    width: Width = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Print response functions of standard and HighSpeed TCP, and a(w) and b(w).

    For each loss rate, the first table has mean windows in segments, round trips between losses,
    and HighSpeed TCP's window divided by standard TCP's. For each window, the second table has
    HighSpeed TCP's increase a(w) and decrease b(w).
    """
    from longhaul.models import plots

    chosen = _form(form, low_window)
    capacity = path_of(rate, rtt)[1]
    rows = [_response_row(chosen, p) for p in LOSSES]
    shapes = [_shape_row(chosen, w) for w in WINDOWS]
    path = {
        "capacity_pkts": capacity,
        "standard_loss": float(responses.STANDARD.loss(capacity)),
        "hstcp_loss": float(chosen.loss(capacity)),
        "standard_flows_for_one_hstcp": responses.equivalent_flows(
            chosen, responses.STANDARD, capacity
        ),
    }
    if json:
        print_json({"response": rows, "parameters": shapes, "path": path})
    else:
        heads = ("loss rate", "standard", "rounds", "hstcp", "rounds", "hstcp / standard")
        formats = ("{:.0e}", "{:,.1f}", "{:,.1f}", "{:,.1f}", "{:,.1f}", "{:,.2f}")
        print_table(heads, formats, rows)
        print_table(
            ("window", "p(w)", "a(w)", "b(w)"), ("{:,}", "{:.3e}", "{:.3f}", "{:.4f}"), shapes
        )
        typer.echo(
            f"{rate}, {rtt}: {capacity:,.0f} segments; standard TCP fills them at a loss rate of "
            f"{path['standard_loss']:.2e}, HighSpeed TCP at {path['hstcp_loss']:.2e}; at equal "
            f"loss rates, {path['standard_flows_for_one_hstcp']:.1f} standard flows have the "
            "throughput of one HighSpeed TCP flow"
        )
    save_plot(lambda: plots.response(chosen, capacity), out, width, overwrite=overwrite, quiet=json)


def path_of(rate: str, rtt: str, packet: float = 1500.0, **other: float) -> tuple[float, float]:
    """Return a path's RTT in seconds and BDP in packets.

    Raise an error if the BDP is below 2 packets, or if `packet` or one of the `other` values is not
    a finite number above 0.
    """
    for name, value in {"packet": packet, **other}.items():
        if not 0 < value < inf:
            raise InputError(f"--{name} {value:g}: expected a finite number above 0")
    rtt_s = _engine.seconds(rtt)
    full = responses.path_window(_engine.bits_per_second(rate), rtt_s, packet)
    if full < 2:
        raise InputError(f"--rate {rate} --rtt {rtt}: {full:g} packets; expected at least 2")
    return rtt_s, full


def _form(name: str, low_window: float | None) -> responses.HighSpeed:
    if name not in responses.FORMS:
        raise InputError(f"--form {name}: {unknown('form', name, responses.FORMS)}")
    if low_window is None:
        return responses.FORMS[name]
    if name not in ("rfc3649", "ns2"):
        raise InputError(f"--low-window: form {name} is printed for a low window of 38 alone")
    if not 1 <= low_window <= MAX_LOW_WINDOW:
        raise InputError(f"--low-window {low_window:g}: from 1 to {MAX_LOW_WINDOW} segments")
    low_p = 1e-3 * (38.0 / low_window) ** 2 if name == "rfc3649" else None
    return responses.HighSpeed.through(low_window, low_p)


def _response_row(form: responses.HighSpeed, p: float) -> dict[str, float]:
    standard = responses.STANDARD
    return {
        "loss": p,
        "standard_pkts": float(standard.window(p)),
        "standard_rounds": float(responses.rounds_between_losses(standard, p)),
        "hstcp_pkts": float(form.window(p)),
        "hstcp_rounds": float(responses.rounds_between_losses(form, p)),
        "relative_fairness": float(responses.relative_fairness(form, standard, p)),
    }


def _shape_row(form: responses.HighSpeed, w: float) -> dict[str, float]:
    return {
        "window_pkts": w,
        "loss": float(form.loss(w)),
        "increase_pkts": float(form.increase(w)),
        "decrease": float(form.decrease(w)),
    }


def parallel_tcp(
    rate: Rate = "100 Mbps",
    rtt: Rtt = "100 ms",
    connections: Annotated[
        list[int] | None,
        typer.Option(
            "--connections",
            "-n",
            help="Number of connections; repeatable.",
            show_default="up to ten times what fills the path",
        ),
    ] = None,
    buffer: Annotated[
        list[float] | None,
        typer.Option(
            help="Drop-tail buffer as a part of the path's capacity; repeatable.",
            show_default="0.1 and 0.5",
        ),
    ] = None,
    red: Annotated[bool, typer.Option("--red", help="RED in place of drop-tail.")] = False,
    q_min: Annotated[float, typer.Option(help="RED's lower threshold, in packets.")] = 5.0,
    q_max: Annotated[float, typer.Option(help="RED's upper threshold, in packets.")] = 15.0,
    p_max: Annotated[float, typer.Option(help="RED's maximum drop probability.")] = 0.1,
    window: Annotated[float, typer.Option(help="Largest window of a connection, bytes.")] = 65_536,
    packet: Packet = 1500,
    ack_every: Annotated[int, typer.Option(help="Packets per acknowledgement.", min=1)] = 1,
    out: Out = None,
    width: Width = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Print loss and goodput of N parallel connections over drop-tail, or loss and queue over RED.

    With drop-tail, all connections lose packets together (a lower bound of goodput), or one after
    another (an upper bound).
    """
    rtt_s, _ = path_of(rate, rtt, packet)
    if not window >= packet:
        raise InputError(f"--window {window:g}: expected at least one packet of {packet:g} bytes")
    path = parallel.Path(
        _engine.bits_per_second(rate),
        rtt_s,
        packet_bytes=packet,
        window_bytes=window,
        packets_per_ack=ack_every,
    )
    counts = sorted(set(connections or _ladder(path)))
    if counts[0] < 1:
        raise InputError(f"--connections {counts[0]}: at least 1")
    if red:
        if not (0 <= q_min < q_max and 0 < p_max <= 1):
            raise InputError("RED: 0 <= --q-min < --q-max and 0 < --p-max <= 1")
        draw = _over_red(path, parallel.Red(q_min, q_max, p_max), counts, json=json)
    else:
        shares = buffer or [0.1, 0.5]
        if bad := [share for share in shares if not 0 < share <= 1]:
            raise InputError(f"--buffer {bad[0]:g}: above 0 and at most 1, the path's capacity")
        most = parallel.most_synchronised(path, min(shares) * path.bdp)
        if counts[-1] > most:
            raise InputError(f"--connections {counts[-1]}: at most {most}, for a loss rate below 1")
        draw = _over_droptail(path, shares, counts, json=json)
    save_plot(draw, out, width, overwrite=overwrite, quiet=json)


def _ladder(path: parallel.Path) -> list[int]:
    """Return numbers of connections from 1/4 to 10 times the number that fills the path.

    There is at most one connection per packet of the path.
    """
    filling = path.bdp / path.max_window
    parts = (0.25, 0.5, 0.75, 0.95, 1, 1.05, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return [max(1, min(ceil(part * filling), floor(path.bdp))) for part in parts]


def _over_droptail(
    path: parallel.Path, shares: list[float], counts: list[int], *, json: bool
) -> Callable[[], Figure]:
    """Print loss and goodput for each number of connections in `counts`, with drop-tail buffers.

    `shares` are the buffers as fractions of the BDP. Return a function that plots loss and goodput.
    """
    from longhaul.models import plots

    curves: plots.Curves = {}
    ratios = []
    for share in shares:
        buffer = share * path.bdp
        together = [parallel.synchronised(path, buffer, n) for n in counts]
        try:
            apart = [parallel.desynchronised(path, buffer, n) for n in counts]
        except ValueError:
            raise InputError(
                f"--window {path.window_bytes:g}: expected less, for a loss rate above "
                f"{parallel.LEAST_LOSS:g}"
            ) from None
        curves[f"buffer {share:g} BDP"] = (together, apart)
        busy = parallel.band(path, buffer)
        rows = [_pair_row(*pair) for pair in zip(together, apart, strict=True)]
        ratios.append({"buffer_bdp": share, "points": rows, "band95": busy and asdict(busy)})
        if json:
            continue
        typer.echo(f"Buffer {share:g} BDP: {buffer:,.0f} packets; BDP: {path.bdp:,.0f} packets")
        heads = ("connections", "loss: together", "one by one", "goodput: together", "one by one")
        print_table(heads, ("{:,}", "{:.2e}", "{:.2e}", "{:.1%}", "{:.1%}"), rows)
        if busy is not None:
            typer.echo(
                f"{busy.first:,} to {busy.last:,} connections use 95 % of the link, even if they "
                "lose together\n"
            )
    if json:
        print_json(ratios)
    return lambda: plots.droptail(curves)


def _pair_row(together: parallel.Point, apart: parallel.Point) -> dict[str, float]:
    return {
        "connections": together.connections,
        "synchronised_loss": together.loss,
        "desynchronised_loss": apart.loss,
        "synchronised_goodput": together.goodput,
        "desynchronised_goodput": apart.goodput,
    }


def _over_red(
    path: parallel.Path, red: parallel.Red, counts: list[int], *, json: bool
) -> Callable[[], Figure]:
    """Print the equilibria under RED, and the range of numbers of connections with an equilibrium.

    An equilibrium is a loss rate and a queue length. Numbers in `counts` without an equilibrium are
    left out. Return a function that plots the loss rates.
    """
    from longhaul.models import plots

    first, last = parallel.red_connections(path, red)
    held = [(n, parallel.red_equilibrium(path, red, n)) for n in counts]
    rows = [{"connections": n, "loss": at.loss, "queue_pkts": at.queue} for n, at in held if at]
    if json:
        print_json({"first_connections": first, "last_connections": last, "points": rows})
    else:
        print_table(("connections", "loss", "queue"), ("{:,}", "{:.2e}", "{:.2f}"), rows)
        typer.echo(f"equilibrium with more than {first:,.1f} connections and at most {last:,}")
    return lambda: plots.red({"": path}, red, counts)


def print_table(
    heads: Sequence[str],
    formats: Sequence[str],
    rows: Iterable[Mapping[str, Any] | Sequence[Any]],
) -> None:
    """Print a table; `formats` has a format for each column.

    A row has the value of each column, in order; it may be a dictionary with these values. Zero and
    None are printed as 0.
    """
    values = (row.values() if isinstance(row, Mapping) else row for row in rows)
    cells = (
        [text.format(cell) if cell else "0" for text, cell in zip(formats, row, strict=True)]
        for row in values
    )
    stdout().print(plain_table(heads, cells, right=range(len(heads))))


def save_plot(
    make: Callable[[], Figure],
    out: Path | None,
    width: float | None,
    *,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Draw a plot, write it to `out`, and print the path unless `quiet`.

    Do nothing if `out` is None.
    """
    if out is None:
        return
    from longhaul import plots

    refuse_existing(out, overwrite=overwrite)
    plots.draw(make, out, width)
    if not quiet:
        typer.echo(out)
