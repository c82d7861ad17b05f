"""Simulation of an algorithm's window round by round, without a network: `longhaul window`.

Each round trip acknowledges one window of segments. Losses hit every n-th segment, or random ones.
A lost segment reduces the window, at most once per round trip, and recovery takes no time. With
evenly spaced losses, this is the model behind the response functions of standard TCP and RFC 3649.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from longhaul import _engine, plots
from longhaul._engine import ScenarioError
from longhaul.congestion import CongestionControl
from longhaul.files.classes import only_algorithm
from longhaul.files.names import suggestion, unknown
from longhaul.files.values import assignment
from longhaul.files.writing import write_text
from longhaul.plots import styles
from longhaul.plots.files import styled
from longhaul.plots.layout import for_width_of, legend_columns, single
from longhaul.running.loading import load

# An algorithm: its name, a file and class such as `my_cc.py:MyCC`, a class, or the object file of a
# Linux module such as `tcp_mine.so`.
Kind = str | type[CongestionControl]

# Maximum distance between losses in segments, and maximum rounds; longer plots take minutes.
MAX_SEGMENTS = 10_000_000
MAX_ROUNDS = 100_000


@dataclass(frozen=True)
class Experiment:
    """Conditions of a flow; exactly one of `loss_every` and `loss` is set.

    `loss_every` is the number of segments between losses. `loss` is the probability that a segment
    is lost, drawn from `seed`. `rtt_s` is the round-trip time in seconds. `cwnd` is the window in
    segments at which congestion avoidance begins; without it, the flow begins in slow start.
    """

    loss_every: int | None = None
    loss: float | None = None
    rounds: int = 300
    rtt_s: float = 0.1
    cwnd: float | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        """Raise an error for invalid values."""
        if (self.loss_every is None) == (self.loss is None):
            raise ScenarioError("give either the segments between losses (--loss-every), or --loss")
        if self.loss_every is not None and not 1 <= self.loss_every <= MAX_SEGMENTS:
            raise ScenarioError(
                f"losses are 1 to {MAX_SEGMENTS:,} segments apart, not {self.loss_every}"
            )
        if self.loss is not None and not 1 / MAX_SEGMENTS <= self.loss <= 1:
            raise ScenarioError(
                f"a loss probability is from {1 / MAX_SEGMENTS:g} to 1, not {self.loss:g}"
            )
        if not 1 <= self.rounds <= MAX_ROUNDS:
            raise ScenarioError(f"there are 1 to {MAX_ROUNDS:,} round trips, not {self.rounds}")
        if not 1e-6 <= self.rtt_s <= 1000:
            raise ScenarioError(f"a round trip takes 1e-6 to 1000 s, not {self.rtt_s:g} s")
        if self.cwnd is not None and not 1 <= self.cwnd <= MAX_SEGMENTS:
            raise ScenarioError(f"a window has 1 to {MAX_SEGMENTS:,} segments, not {self.cwnd:g}")

    def title(self) -> str:
        """Return a text with the losses and the round-trip time, as a title."""
        if self.loss is not None:
            lost = f"{self.loss:g} of the segments at random"
        else:
            lost = f"one in {self.loss_every:,} segments"
        return f"{lost} lost, round trip {self.rtt_s * 1e3:g} ms"


@dataclass(frozen=True)
class Trajectory:
    """The window of one algorithm over time, with a row per round trip."""

    name: str
    rounds: pl.DataFrame
    """Rounds: `round`, `start_s`, `cwnd_pkts`, `ssthresh_pkts`, `sent_pkts`, `congestion`."""
    response_pkts: float | None
    """Mean window that the algorithm's response function predicts; None without a function."""

    def settled(self) -> pl.DataFrame:
        """Return the rounds after the second window reduction.

        Return all rounds if there are fewer than three reductions.
        """
        cuts = self.rounds.filter("congestion")["round"]
        if len(cuts) < 3:
            return self.rounds
        return self.rounds.filter(pl.col("round") > cuts[1])

    def figures(self) -> dict[str, Any]:
        """Return the number of window reductions, and window statistics of the settled rounds."""
        settled = self.settled()
        cwnd = settled["cwnd_pkts"]
        return {
            "name": self.name,
            "cwnd_mean_pkts": cwnd.mean(),
            "cwnd_min_pkts": cwnd.min(),
            "cwnd_max_pkts": cwnd.max(),
            "cuts": int(self.rounds["congestion"].sum()),
            "response_pkts": self.response_pkts,
        }


def trajectories(
    kinds: Sequence[Kind], experiment: Experiment, set: Sequence[str] = ()
) -> list[Trajectory]:
    """Return the window of each algorithm over the experiment's round trips.

    Each text `parameter=value` in `set` sets a parameter of the built-in algorithms that have it.
    Classes and kernel modules get every parameter; an error follows if one does not have it.
    """
    given = [_congestion(kind) for kind in kinds]
    if len({str(_what(algorithm)) for algorithm in given}) < len(given):
        raise ScenarioError("an algorithm is named twice")
    for text in set:
        _give(given, text)
    return [_trajectory(algorithm, experiment) for algorithm in given]


def _trajectory(congestion: Mapping[str, Any], experiment: Experiment) -> Trajectory:
    scenario = load(
        {
            "duration": "1 s",
            "topology": {
                "dumbbell": {
                    "bottleneck": {
                        "rate": "1 Gbps",
                        "delay": "1 ms",
                        "queue": {"kind": "droptail", "limit": "1 BDP"},
                    }
                }
            },
            "flows": [{"congestion": congestion}],
        }
    )
    columns, response = scenario.rounds(
        experiment.rounds,
        rtt_s=experiment.rtt_s,
        loss_every=experiment.loss_every,
        loss=None if experiment.loss is None else (experiment.loss, experiment.seed),
        cwnd=experiment.cwnd,
    )
    rounds = pl.DataFrame(columns).with_row_index("round")
    return Trajectory(_name(congestion), rounds, response)


def _what(congestion: Mapping[str, Any]) -> Kind:
    """Return the name, file or class in an algorithm's `congestion` table."""
    kind: Kind = next(congestion[key] for key in ("kind", "python", "module") if key in congestion)
    return kind


def _name(congestion: Mapping[str, Any]) -> str:
    what = _what(congestion)
    if "module" in congestion:
        return Path(str(what)).stem.removeprefix("tcp_")
    return what.rpartition(":")[2] if isinstance(what, str) else what.__name__


def _congestion(kind: Kind) -> dict[str, Any]:
    """Return the `congestion` table of a scenario for the algorithm `kind`."""
    if isinstance(kind, str) and kind.endswith(".so"):
        return {"module": kind}
    if isinstance(kind, str) and kind.endswith(".py"):
        kind = f"{kind}:{only_algorithm(Path(kind))}"
    if isinstance(kind, type) or ":" in kind:
        return {"python": kind}
    known = [row["name"] for row in _engine.algorithms()["algorithms"]]
    if kind not in known:
        message = unknown("algorithm", kind, known, "longhaul list algorithms")
        raise ScenarioError(
            f"{message}; a class of your own is given as my_cc.py or my_cc.py:MyCC, "
            "a module of Linux as tcp_mine.so"
        )
    return {"kind": kind}


def _give(given: Sequence[dict[str, Any]], text: str) -> None:
    """Set the parameter in `text` (`parameter=value`) in all algorithms in `given` that have it.

    Classes and kernel modules count as having it.
    """
    key, value = assignment(text)
    catalogue = {row["name"]: row for row in _engine.algorithms()["algorithms"]}
    takers: list[dict[str, Any]] = []
    known: dict[str, None] = {}
    for algorithm in given:
        row = catalogue.get(algorithm.get("kind", ""))
        # A class or module must be loaded before its parameters are known.
        names = [key] if row is None else ["variant", *(p["name"] for p in row["parameters"])]
        known |= dict.fromkeys(names)
        if key in names:
            takers.append(algorithm)
    if not takers:
        raise ScenarioError(f"--set {key}: no such parameter{suggestion(key, known)}")
    for algorithm in takers:
        algorithm[key] = value


@styled()
def figure(drawn: Sequence[Trajectory], experiment: Experiment) -> Figure:
    """Draw windows over round trips, one line per algorithm."""
    style_of = styles.of_labels({trajectory.name: trajectory.name for trajectory in drawn})
    width_in = for_width_of(7.2)
    drawing, axes = single(width_in, 3.1)
    for trajectory in drawn:
        rounds, style = trajectory.rounds, style_of[trajectory.name]
        line = styles.as_line(style, marker=True)
        axes.plot(rounds["round"], rounds["cwnd_pkts"], label=trajectory.name, **line)
    # An overshooting slow start would compress the rest of the plot.
    top = max(float(trajectory.settled()["cwnd_pkts"].max() or 0) for trajectory in drawn)  # type: ignore[arg-type]
    axes.set_ylim(0, top * 1.1)
    axes.set_xlim(0, experiment.rounds)
    axes.set_xlabel("round trip")
    axes.set_ylabel("congestion window (segments)")
    axes.set_title(experiment.title())
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.18),
        ncols=min(4, legend_columns(style_of, width_in)),
    )
    return drawing


def save(
    drawn: Sequence[Trajectory], experiment: Experiment, path: Path, width_in: float | None = None
) -> None:
    """Write the plot of the trajectories as SVG, PNG or PDF, or a page with a table and the plot.

    The suffix of `path` selects the format. The width is in inches; None means the default width.
    """
    if path.suffix != ".html":
        return plots.draw(lambda: figure(drawn, experiment), path, width_in)
    with plots.for_width(width_in):
        drawing = figure(drawn, experiment)
    from longhaul.reports import inline_svg, page

    figures = [trajectory.figures() for trajectory in drawn]
    svg = inline_svg(drawing, "window")
    html = page("window.html", title=experiment.title(), figures=figures, svg=svg)
    write_text(path, html)
    return None
