"""The compiled engine: scenarios in, run directories out."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final

class LonghaulError(Exception):
    """Anything that Longhaul refuses or fails to do."""

class ScenarioError(LonghaulError):
    """A scenario that cannot be run; the message names file, key and remedy."""

class OutputError(LonghaulError):
    """A place that cannot be written to, or that already holds something."""

class RunError(LonghaulError):
    """A run that failed under way."""

class EmulationError(LonghaulError):
    """An emulation that this machine, its rights or the scenario does not allow."""

class AlgorithmError(LonghaulError):
    """A congestion control algorithm in Python that cannot be used, or that raised an exception.

    The message names file, line and simulated time; `__cause__` is what was raised.
    """

@final
class Ack:
    """An acknowledgement."""

    @property
    def now_s(self) -> float:
        """When it arrived, in seconds of simulated time."""

    @property
    def acked(self) -> int:
        """Segments newly acknowledged by the cumulative acknowledgement."""

    @property
    def credit(self) -> float:
        """Segments that count towards growth (RFC 3465)."""

    @property
    def delivered(self) -> int:
        """Segments of the connection known to be delivered so far."""

    @property
    def lost(self) -> int:
        """Segments of the connection taken for lost so far."""

    @property
    def in_recovery(self) -> bool:
        """Whether losses are being repaired."""

    @property
    def may_grow(self) -> bool:
        """Whether it may enlarge the window.

        Not in recovery, if it is a duplicate or echoes a mark (RFC 3168 section 6.1.2), nor if the
        window has not been used (RFC 7661).
        """

    @property
    def rtt_s(self) -> float | None:
        """A round-trip sample in seconds, if this acknowledgement gave one."""

    @property
    def srtt_s(self) -> float:
        """Smoothed round-trip time in seconds; zero before the first sample."""

    @property
    def min_rtt_s(self) -> float:
        """Smallest round-trip time seen, in seconds; zero before the first sample."""

    @property
    def one_way_delay_s(self) -> float | None:
        """Forward transit time in seconds, where the transport measures it."""

    @property
    def ecn_echo(self) -> bool:
        """Whether it echoed a congestion mark."""

    @property
    def in_flight(self) -> int:
        """Segments in flight after it."""

    @property
    def delivery_rate(self) -> float | None:
        """Delivered segments per second over the last flight, where there is a sample."""
    @property
    def segment_bytes(self) -> int:
        """Bytes of a full segment on the wire: makes a pacing rate of segments per second."""

    @property
    def limit(self) -> Literal["network", "receive window", "application"]:
        """What kept the sender from sending more."""

    @property
    def round(self) -> int:
        """Number of the round trip, from zero."""

@final
class Congestion:
    """A congestion signal."""

    @property
    def now_s(self) -> float:
        """When it was detected, in seconds of simulated time."""

    @property
    def cause(self) -> Literal["loss", "nak", "ecn"]:
        """What signalled it."""

    @property
    def base(self) -> float:
        """The window in use, which a reduction applies to, in segments."""

    @property
    def in_flight(self) -> int:
        """Segments in flight."""

    @property
    def in_slow_start(self) -> bool:
        """Whether the window was still in slow start."""

    @property
    def first(self) -> bool:
        """Whether this is the connection's first reduction of any kind."""

@final
class Timeout:
    """A retransmission timeout."""

    @property
    def now_s(self) -> float:
        """When the timer expired, in seconds of simulated time."""

    @property
    def base(self) -> float:
        """The window in use when it expired, in segments."""

    @property
    def keep_ssthresh(self) -> bool:
        """Whether `ssthresh` should be left alone: a repeated timeout, or right after ECN's cut."""

@final
class Window:
    """Congestion window and slow start threshold in segments.

    The window is at least 1, at most what the flow can use; the threshold at least 2 (RFC 5681).
    What is not a finite number, and a window below 0, is refused with a ValueError; a window from 0
    to 1 is one segment.
    """

    cwnd: float
    """Congestion window."""
    ssthresh: float
    """Slow start threshold."""
    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the threshold."""

    def grow(self, segments: float) -> None:
        """Add `segments` to the window; a negative number takes so many off.

        The threshold stays: a window that falls below it is in slow start again.
        """

    def reduce_to(self, segments: float) -> None:
        """Cut window and threshold to `segments`, rounded as the scenario has it."""

    def restart(self) -> None:
        """Go back to one segment."""

    def exit_slow_start(self) -> None:
        """Set the threshold to where the window stands."""

@final
class Tabulated:
    """A smooth function of the window, tabulated: it then costs an acknowledgement no logarithm.

    Each octave from `low` to `high` has 256 cells, between whose ends the function is a straight
    line; outside, it is called itself. The built-in algorithms use the same tables.
    """

    def __new__(cls, function: Callable[[float], float], low: float, high: float) -> Tabulated: ...
    def __call__(self, window: float) -> float:
        """The function at `window` segments."""

def byte_count(bytes: float) -> str:
    """A number of bytes with three digits, in the unit that shows it: `12.9 GB`."""

def check_name(text: str) -> str | None:
    """Why a text is no name or title: one line of printable text; None if it is one."""

def exp(x: float) -> float:
    """The exponential function: the same bits on every platform, as are `log` and `power`."""

def log(x: float) -> float:
    """The natural logarithm; not a number below zero."""

def power(x: float, y: float) -> float:
    """`x` to the power of `y`."""

@final
class Interval:
    """An interval of a run of MesoNet, when it is over: what functions that measure get.

    Figures have the names of the columns in the run's tables; sums belong to active flows, or to
    the flows completed in the interval. Counters of routers are those since the start of the run.
    """

    @property
    def number(self) -> int:
        """Its number, from 1."""

    @property
    def t_s(self) -> float:
        """When it ended, in seconds of simulated time."""

    @property
    def length_s(self) -> float:
        """How long it was, in seconds."""

    @property
    def in_pkts(self) -> int:
        """Data packets that sources sent in it."""

    @property
    def out_pkts(self) -> int:
        """Data packets that reached the access routers of their receivers in it."""

    @property
    def classes(self) -> dict[str, dict[str, float]]:
        """Flows of each class, `DD` to `NN`, without long-lived ones."""

    @property
    def long_lived(self) -> dict[str, dict[str, Any]]:
        """Long-lived flows by their labels."""

    @property
    def backbone(self) -> dict[str, dict[str, int]]:
        """Backbone routers by their names."""

    @property
    def pops(self) -> dict[str, dict[str, int]]:
        """Points of presence by their names."""

    @property
    def access(self) -> dict[str, dict[str, int]]:
        """Access routers by their names."""

    @property
    def edges(self) -> dict[str, dict[str, int]]:
        """What flows of the hosts below each access router went through in it."""

    @property
    def links(self) -> dict[str, int]:
        """Packets that entered each link of the backbone in it."""

    @property
    def packets(self) -> dict[str, list[Any]]:
        """Events of packets of traced flows in it, in order: a list for each column of the table.

        `sent` by the host, `queued` or `dropped` at a router, `delivered`; without `leaves_s`.
        """

    @property
    def flow_events(self) -> dict[str, list[Any]]:
        """Starts, window changes, timeouts and ends of traced flows in it, in columns likewise."""

@final
class TimeLimit:
    """How long a scenario may take to be read and to run, by the wall clock, from now on.

    `stacks` is a file to which `faulthandler` writes soon after the limit has passed: with it the
    program is ended where an algorithm in Python cannot be interrupted.
    """

    def __init__(self, limit_s: float, stacks: str | None = None) -> None: ...

@final
class Latest:
    """The latest samples of a run that is given this."""

    def flows(self) -> dict[str, dict[str, Any]]:
        """The last sample of each flow: time, window, round trip, counters; not in MesoNet."""

    def links(self) -> dict[str, dict[str, Any]]:
        """The last sample of each link: time, queue, counters; not in MesoNet."""

    def interval(self) -> Interval | None:
        """The last interval of a run of MesoNet."""

@final
class Scenario:
    """A scenario, checked and resolved."""

    @staticmethod
    def load(
        path: str,
        overrides: Sequence[str] = (),
        algorithms: Mapping[str, type] | None = None,
        limit: TimeLimit | None = None,
    ) -> Scenario:
        """Read a scenario file, with `key=value` overrides and classes that it may name."""

    @staticmethod
    def parse(
        text: str,
        name: str,
        overrides: Sequence[str] = (),
        algorithms: Mapping[str, type] | None = None,
        limit: TimeLimit | None = None,
    ) -> Scenario:
        """Read scenario text, TOML or JSON; `name` stands for the file in messages."""

    @property
    def title(self) -> str: ...
    @property
    def hash(self) -> str:
        """Identifies the resolved scenario."""

    @property
    def duration_s(self) -> float: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def links(self) -> list[str]:
        """Names of the links; none of MesoNet."""

    @property
    def buffers(self) -> list[tuple[int, bool]]:
        """What the queue of each link holds, and whether that is packets, or else bytes."""

    @property
    def routes(self) -> list[tuple[str, list[int]]]:
        """Each flow, with the numbers of the links that its data takes."""

    @property
    def nothing_drawn(self) -> str | None:
        """Why all replications are the same, and what would make them differ.

        None where random numbers decide anything.
        """

    @property
    def expected_bytes(self) -> float:
        """Bytes that the run is expected to write: time series and captures."""

    def resolved_json(self) -> str:
        """The scenario with every default filled in, as JSON."""

    def explain(self) -> list[tuple[str, str, str]]:
        """Path, value and origin of every value."""

    def rounds(
        self,
        rounds: int,
        *,
        rtt_s: float,
        loss_every: int | None = None,
        loss: tuple[float, int] | None = None,
        cwnd: float | None = None,
    ) -> tuple[dict[str, list[Any]], float | None]:
        """The window of the first flow round by round, with no network.

        Columns `start_s`, `cwnd_pkts`, `ssthresh_pkts`, `sent_pkts` and `congestion`, one row per
        round trip; and the mean window that the algorithm's response function gives, if it has one.
        `loss` is a probability and the seed of its draws.
        """

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes, none of kinds of simulation that have no nodes of their own."""

    @property
    def ends(self) -> tuple[str, str]:
        """Names of the sending and receiving node of the first flow."""

    def emulate(
        self,
        out: str | PathLike[str],
        *,
        nodes: Sequence[str],
        programs: Sequence[tuple[int, Sequence[str], bool]],
        background: bool = False,
        sysctls: Sequence[tuple[str, str]] = (),
        pcap: str | PathLike[str] | None = None,
        overwrite: bool = False,
    ) -> tuple[Path, str, str | None, BaseException | None]:
        """Emulate the network between hosts at `nodes`, and leave a run directory.

        A program is the number of its host, the program with its arguments, and true if the
        emulation ends with it. Returns the directory, the circumstances as JSON, the fault of
        `out` if the directory is elsewhere, and what was raised if that stopped the emulation.
        Raises EmulationError if the machine or the scenario does not allow it.
        """

    def run(
        self,
        out: str | PathLike[str],
        *,
        progress: Callable[[float, int], object] | None = None,
        measures: Sequence[Callable[[Interval], Mapping[str, float]]] = (),
        overwrite: bool = False,
        checkpoint_every_s: float | None = None,
        limit: TimeLimit | None = None,
        memory_bytes: int | None = None,
        latest: Latest | None = None,
        threads: int = 1,
    ) -> tuple[Path, BaseException | None]:
        """Simulate, and leave a run directory at `out`.

        Returns the directory, and what was raised if that stopped the run. When `limit` has
        passed the run is stopped, and so it is before it takes more than `memory_bytes`, by default
        nine tenths of what is available. `latest` has the latest samples meanwhile.
        `threads` share a run of MesoNet; their number changes no results.

        `measures` get each interval of MesoNet; the values that they return by name, the same names
        each time, are a row of a table.

        `progress` gets the simulated seconds and the data packets so far, about ten times a
        second. It may raise: the run then stops and leaves nothing behind, as it does on Ctrl-C.
        """

def hybrid(
    queues: Sequence[tuple[float, float]],
    flows: Sequence[tuple[float, float, float, float, float, Sequence[tuple[int, bool]]]],
    *,
    step_s: float,
    steps_per_interval: int,
    intervals: int,
    initial_window: float,
    initial_ssthresh: float,
    max_ssthresh: float,
    seed: int,
) -> dict[str, list[list[float]]]:
    """The hybrid model of `longhaul.models.hybrid`, which says what the arguments are.

    Rows are intervals; columns flows (`throughput_pps`, `rtt_s`, `window_pkts`, `reductions`) or
    queues (`queue_pkts`, `served_pps`, `dropped_pps`).
    """

def algorithms() -> dict[str, Any]:
    """Every congestion control algorithm and slow start: law, parameters, sources."""

def queues() -> list[dict[str, Any]]:
    """Every queue discipline, with its keys and source."""

def scenario_keys() -> list[dict[str, str]]:
    """Every key of a scenario: name, description, allowed, unit, default, source."""

def traffic() -> list[dict[str, Any]]:
    """Every kind of traffic, with its keys."""

def profiles() -> list[dict[str, str]]:
    """Every profile, with what it stands for."""

def columns() -> list[dict[str, str]]:
    """Every column of the tables of a run over links: table, name, unit, description.

    Tables have a column with `only_with` only where a link has that key.
    """

def seconds(text: str) -> float:
    """A time with its unit, such as `100 ms`, in seconds."""

def bits_per_second(text: str) -> int:
    """A rate with its unit, such as `10 Mbps`, in bits per second."""

def check_controller(address: str) -> None:
    """Refuse an address where no controller in another process answers as it should.

    Raises:
        AlgorithmError: nothing listens there, or it does not know the protocol.

    """

def describe_module(file: str | Path) -> dict[str, Any]:
    """Describe an object of `longhaul module build`.

    Keys `name`, `parameters` (name, type and default of each), `hooks`, `needs` and `hz`.

    Raises:
        AlgorithmError: it is none, or of another version of the headers, processor or system.

    """

def schema() -> str:
    """The JSON Schema of scenario files."""

def version() -> str: ...
def results_version() -> int:
    """Changes when the same scenario gives other numbers."""

def build_profile() -> str:
    """`release` or `debug`."""
