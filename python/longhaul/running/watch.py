"""Live view of a run in the terminal: windows, queues, throughput."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from longhaul._engine import Latest, ScenarioError

# Maximum lines of a table, redraws per second, and characters of a curve.
MOST_LINES = 12
DRAWN_HZ = 4
CURVE = 24
BLOCKS = " ▁▂▃▄▅▆▇█"

# A row: name, values as text, and the number shown as a curve.
Row = tuple[str, list[str], float | None]


class Watch:
    """Latest measurements of a run and their history, for the live view."""

    def __init__(self, title: str, duration_s: float, latest: Latest) -> None:
        self.title = title
        self.duration_s = duration_s
        self.latest = latest
        self.began = monotonic()
        self.curves: dict[str, deque[float]] = {}
        self.before: dict[str, Mapping[str, Any]] = {}
        self.rates: dict[str, float] = {}

    def picture(self, simulated_s: float, packets: int) -> RenderableType:
        """Return the live view at a simulated time, for rich to print.

        `packets` is the number of packets so far.
        """
        share = simulated_s / self.duration_s if self.duration_s > 0 else 1.0
        speed = packets / max(monotonic() - self.began, 1e-9)
        head = Table.grid(padding=(0, 2))
        head.add_row(
            Text(self.title, style="bold"),
            ProgressBar(total=1.0, completed=share, width=20),
            f"{simulated_s:.1f}/{self.duration_s:g} s simulated",
            f"{speed / 1e6:.2f} M packets/s",
        )
        interval = self.latest.interval()
        if interval is not None:
            return Group(head, *self._mesonet(interval))
        flows, links = self._flows(), self._links()
        if not flows and not links:
            every = "measure.every (in MesoNet: mesonet.interval)"
            return Group(head, Text(f"no samples yet; {every} says how often there are any"))
        heads = ("window", "Mbit/s", "RTT", "retransmitted")
        return Group(
            head,
            self._table("flow", heads, "throughput", flows),
            self._table("link", ("queue", "Mbit/s", "dropped", "marked"), "queue", links),
        )

    def _table(
        self, of: str, heads: tuple[str, ...], curve: str, rows: list[Row]
    ) -> RenderableType:
        table = Table(of, box=None, pad_edge=False)
        for name in heads:
            table.add_column(name, justify="right")
        table.add_column(curve, min_width=CURVE)
        for name, values, number in rows[:MOST_LINES]:
            table.add_row(name, *values, self._curve(f"{of} {name}", number))
        if len(rows) > MOST_LINES:
            table.caption = f"and {len(rows) - MOST_LINES} more"
            table.caption_justify = "left"
        return table

    def _curve(self, key: str, number: float | None) -> str:
        """Add `number` to the values of `key`, and return the last ones as block characters."""
        past = self.curves.setdefault(key, deque(maxlen=CURVE))
        if number is not None:
            past.append(number)
        top = max(past, default=0.0)
        if top <= 0:
            return BLOCKS[1] * len(past)
        return "".join(BLOCKS[1 + round(value / top * (len(BLOCKS) - 2))] for value in past)

    def _flows(self) -> list[Row]:
        rows: list[Row] = []
        for name, flow in self.latest.flows().items():
            rate = self._rate(name, flow, "delivered_bytes")
            window = "" if flow["cwnd_pkts"] is None else f"{flow['cwnd_pkts']:,.0f}"
            rtt = f"{flow['srtt_s'] * 1e3:.1f} ms" if flow["srtt_s"] else ""
            values = [window, f"{rate:.1f}", rtt, f"{flow['retransmitted_pkts']:,}"]
            rows.append((name, values, rate))
        return rows

    def _links(self) -> list[Row]:
        rows: list[Row] = []
        for name, link in self.latest.links().items():
            rate = self._rate(f"link {name}", link, "transmitted_bytes")
            counts = [f"{link['dropped_pkts']:,}", f"{link['marked_pkts']:,}"]
            queue = float(link["queue_pkts"])
            rows.append((name, [f"{queue:,.0f}", f"{rate:.1f}", *counts], queue))
        return rows

    def _rate(self, key: str, sample: Mapping[str, Any], counter: str) -> float:
        """Return the growth of a counter of bytes in Mbit/s since the sample of the previous call.

        If there is no new sample, return the last rate.
        """
        before = self.before.get(key, {"t_s": 0.0, counter: 0})
        passed = sample["t_s"] - before["t_s"]
        if passed > 0:
            self.rates[key] = 8e-6 * (sample[counter] - before[counter]) / passed
            self.before[key] = sample
        return self.rates.get(key, 0.0)

    def _mesonet(self, interval: Any) -> Iterator[RenderableType]:  # noqa: ANN401
        """Yield tables of flows, classes and the fullest routers in an interval of MesoNet."""
        length = interval.length_s
        flows: list[Row] = []
        for name, flow in interval.long_lived.items():
            rate = flow["out_pkts"] / length
            values = [f"{flow['cwnd_pkts']:,.0f}", f"{rate:,.0f}", f"{flow['srtt_s'] * 1e3:.1f} ms"]
            flows.append((name, values, rate))
        if flows:
            heads = ("window", "packets/s", "RTT")
            yield self._table("long-lived flow", heads, "throughput", flows)
        classes: list[Row] = [
            (
                name,
                [f"{counts['active_flows']:,}", f"{counts['out_pkts'] / length:,.0f}"],
                counts["out_pkts"] / length,
            )
            for name, counts in interval.classes.items()
        ]
        yield self._table("class", ("active flows", "packets/s"), "throughput", classes)
        routers = interval.backbone | interval.pops | interval.access
        waiting: list[Row] = []
        for name, router in routers.items():
            queue = router["queue_up_pkts"] + router["queue_down_pkts"]
            dropped = router["dropped_up_pkts"] + router["dropped_down_pkts"]
            waiting.append((name, [f"{queue:,}", f"{dropped:,}"], float(queue)))
        waiting.sort(key=lambda row: -(row[2] or 0.0))
        yield self._table("router", ("queue", "dropped"), "queue", waiting[: MOST_LINES // 2])


@contextmanager
def watching(
    title: str, duration_s: float, latest: Latest
) -> Iterator[Callable[[float, int], None]]:
    """Show a run on standard error while it runs; yield the function that updates the view.

    Raise ScenarioError if standard error is not a terminal.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        raise ScenarioError("--watch: shows a run in a terminal, and there is none")
    watch = Watch(title, duration_s, latest)
    drawn = 0.0
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def advance(simulated_s: float, packets: int) -> None:
            nonlocal drawn
            if monotonic() - drawn < 1 / DRAWN_HZ:
                return
            drawn = monotonic()
            live.update(watch.picture(simulated_s, packets), refresh=True)

        yield advance
