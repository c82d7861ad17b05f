"""The compiled engine: it reads scenarios and writes run directories."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final

class LonghaulError(Exception):
    """Base class of the errors that Longhaul raises."""

class ScenarioError(LonghaulError):
    """A scenario that cannot be run; the message names the file, the key and the remedy."""

class OutputError(LonghaulError):
    """An output directory or file that cannot be written, or that already exists."""

class RunError(LonghaulError):
    """A run that failed after it had started."""

class EmulationError(LonghaulError):
    """An emulation that the machine, the user's permissions or the scenario do not allow."""

class AlgorithmError(LonghaulError):
    """A congestion control algorithm in Python that cannot be used, or that raised an exception.

    The message names the file, the line and the simulated time; `__cause__` is the exception that
    the algorithm raised.
    """

@final
class Ack:
    """An acknowledgement."""

    @property
    def now_s(self) -> float:
        """Arrival time of the ACK, in seconds of simulated time."""

    @property
    def acked(self) -> int:
        """Segments newly acknowledged by the cumulative acknowledgement."""

    @property
    def credit(self) -> float:
        """Segments that count towards window growth, by `tcp.ack_counting` (RFC 3465)."""

    @property
    def delivered(self) -> int:
        """Segments of the connection acknowledged so far, cumulatively or by SACK."""

    @property
    def lost(self) -> int:
        """Segments of the connection declared lost so far."""

    @property
    def in_recovery(self) -> bool:
        """True during loss recovery."""

    @property
    def may_grow(self) -> bool:
        """True if this ACK may enlarge the window.

        False in recovery, for a duplicate ACK, for one that echoes a congestion mark (RFC 3168
        section 6.1.2), and while the sender does not use its whole window (RFC 7661).
        """

    @property
    def rtt_s(self) -> float | None:
        """Round-trip time sample in seconds; None if this ACK gave none."""

    @property
    def srtt_s(self) -> float:
        """Smoothed round-trip time in seconds; zero before the first sample."""

    @property
    def min_rtt_s(self) -> float:
        """Smallest round-trip time so far, in seconds; zero before the first sample."""

    @property
    def one_way_delay_s(self) -> float | None:
        """One-way delay of the data in seconds; None if the transport does not measure it."""

    @property
    def ecn_echo(self) -> bool:
        """True if this ACK echoed a congestion mark."""

    @property
    def in_flight(self) -> int:
        """Segments in flight after this ACK was processed."""

    @property
    def delivery_rate(self) -> float | None:
        """Delivery rate in segments per second over the last flight; None without a sample."""

    @property
    def segment_bytes(self) -> int:
        """Bytes of a full segment on the wire, to convert segments per second to a pacing rate."""

    @property
    def limit(self) -> Literal["network", "receive window", "application"]:
        """Limit that kept the sender from sending more."""

    @property
    def round(self) -> int:
        """Number of the current round trip, from zero."""

@final
class Congestion:
    """A congestion signal."""

    @property
    def now_s(self) -> float:
        """Time at which the congestion was detected, in seconds of simulated time."""

    @property
    def cause(self) -> Literal["loss", "nak", "ecn"]:
        """Kind of the signal: a loss, a negative acknowledgement or a congestion mark."""

    @property
    def base(self) -> float:
        """Window in use, to which a reduction applies, in segments."""

    @property
    def in_flight(self) -> int:
        """Segments in flight."""

    @property
    def in_slow_start(self) -> bool:
        """True if the flow was still in slow start."""

    @property
    def first(self) -> bool:
        """True for the first reduction of the connection, whatever its cause."""

@final
class Timeout:
    """A retransmission timeout."""

    @property
    def now_s(self) -> float:
        """Time at which the timer expired, in seconds of simulated time."""

    @property
    def base(self) -> float:
        """Window in use when the timer expired, in segments."""

    @property
    def keep_ssthresh(self) -> bool:
        """True if `ssthresh` should stay: the timer expired again, or just after ECN reduced it."""

@final
class Window:
    """Congestion window and slow start threshold in segments.

    The window is at least 1 and at most the largest that the flow can use; the threshold is at
    least 2 (RFC 5681). A value that is not finite, or a window below 0, raises a ValueError; a
    window from 0 to 1 becomes one segment.
    """

    cwnd: float
    """Congestion window."""
    ssthresh: float
    """Slow start threshold."""
    @property
    def in_slow_start(self) -> bool:
        """True if the window is below the threshold."""

    def grow(self, segments: float) -> None:
        """Add `segments` to the window; a negative number reduces it.

        The threshold does not change: if the window falls below it, the flow is in slow start.
        """

    def reduce_to(self, segments: float) -> None:
        """Reduce window and threshold to `segments`, rounded by the scenario's `tcp.rounding`."""

    def restart(self) -> None:
        """Set the window to one segment."""

    def exit_slow_start(self) -> None:
        """Set the threshold to the current window."""

@final
class Tabulated:
    """A smooth function of the window, tabulated so that no ACK has to compute a logarithm.

    Each octave from `low` to `high` is divided into 256 cells, in each of which the function is
    interpolated linearly; outside that range the function itself is called. The built-in
    algorithms use the same tables.
    """

    def __new__(cls, function: Callable[[float], float], low: float, high: float) -> Tabulated: ...
    def __call__(self, window: float) -> float:
        """Return the value of the function at a window of `window` segments."""

def byte_count(bytes: float) -> str:
    """Return a number of bytes as text with three digits and a fitting unit, such as `12.9 GB`."""

def check_name(text: str) -> str | None:
    """Return why a text is not a valid name or title (one line of printable text), or None."""

def exp(x: float) -> float:
    """Return e to the power of `x`; as with `log` and `power`, the same bits on every platform."""

def log(x: float) -> float:
    """Return the natural logarithm of `x`; NaN if `x` is below zero."""

def power(x: float, y: float) -> float:
    """Return `x` to the power of `y`."""

@final
class Interval:
    """A finished interval of a MesoNet run, as passed to the user's measuring functions.

    Figures have the names of the columns in the run's tables. Sums are over the active flows, or
    over the flows completed in the interval. Counters of routers count from the start of the run.
    """

    @property
    def number(self) -> int:
        """Number of the interval, from 1."""

    @property
    def t_s(self) -> float:
        """End of the interval, in seconds of simulated time."""

    @property
    def length_s(self) -> float:
        """Length of the interval, in seconds."""

    @property
    def in_pkts(self) -> int:
        """Data packets that sources sent in the interval."""

    @property
    def out_pkts(self) -> int:
        """Data packets that passed their receivers' access routers in the interval."""

    @property
    def classes(self) -> dict[str, dict[str, float]]:
        """Figures of the flows of each class, `DD` to `NN`, without long-lived flows."""

    @property
    def long_lived(self) -> dict[str, dict[str, Any]]:
        """Figures of the long-lived flows, by label."""

    @property
    def backbone(self) -> dict[str, dict[str, int]]:
        """Figures of the backbone routers, by name."""

    @property
    def pops(self) -> dict[str, dict[str, int]]:
        """Figures of the points of presence, by name."""

    @property
    def access(self) -> dict[str, dict[str, int]]:
        """Figures of the access routers, by name."""

    @property
    def edges(self) -> dict[str, dict[str, int]]:
        """Events in the interval, by access router, of flows with hosts behind this router."""

    @property
    def links(self) -> dict[str, int]:
        """Packets that entered each link of the backbone in the interval."""

    @property
    def packets(self) -> dict[str, list[Any]]:
        """Packet events of traced flows in the interval, in order: a list for each column.

        Columns are those of the packet trace's table without `leaves_s`. Events are `sent` by the
        host, `queued` or `dropped` at a router, and `delivered`.
        """

    @property
    def flow_events(self) -> dict[str, list[Any]]:
        """Starts, window changes, timeouts and ends of traced flows: a list for each column."""

@final
class TimeLimit:
    """Wall-clock time allowed, from its creation on, for reading and running a scenario.

    `stacks` is a file to which `faulthandler` writes soon after the limit has passed. If it is
    given, the whole program is ended when an algorithm in Python cannot be interrupted.
    """

    def __init__(self, limit_s: float, stacks: str | None = None) -> None: ...

@final
class Latest:
    """The latest samples of a run, for the program that passes this object to `Scenario.run`."""

    def flows(self) -> dict[str, dict[str, Any]]:
        """Return the last sample of each flow: time, window, RTT, counters; not in MesoNet."""

    def links(self) -> dict[str, dict[str, Any]]:
        """Return the last sample of each link: time, queue, counters; not in MesoNet."""

    def interval(self) -> Interval | None:
        """Return the last finished interval of a MesoNet run, or None."""

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
        """Read a scenario file.

        `overrides` are texts `key=value`; `algorithms` are classes that the scenario may name.
        """

    @staticmethod
    def parse(
        text: str,
        name: str,
        overrides: Sequence[str] = (),
        algorithms: Mapping[str, type] | None = None,
        limit: TimeLimit | None = None,
    ) -> Scenario:
        """Read the text of a scenario, TOML or JSON; messages call it `name`."""

    @property
    def title(self) -> str: ...
    @property
    def hash(self) -> str:
        """Hash of the resolved scenario, which identifies it."""

    @property
    def duration_s(self) -> float: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def links(self) -> list[str]:
        """Names of the links; empty in MesoNet."""

    @property
    def buffers(self) -> list[tuple[int, bool]]:
        """Limit of each link's queue: a number, and true if it counts packets, false if bytes."""

    @property
    def routes(self) -> list[tuple[str, list[int]]]:
        """Name of each flow, with the numbers of the links on the path of its data, in order."""

    @property
    def nothing_drawn(self) -> str | None:
        """Reason why all replications are the same, and changes that would make them differ.

        None if anything in the run is drawn at random.
        """

    @property
    def expected_bytes(self) -> float:
        """Number of bytes of time series and captures that the run is expected to write."""

    def resolved_json(self) -> str:
        """Return the scenario with every default filled in, as JSON."""

    def explain(self) -> list[tuple[str, str, str]]:
        """Return path, value and origin of every value of the scenario."""

    def rounds(
        self,
        rounds: int,
        *,
        rtt_s: float,
        loss_every: int | None = None,
        loss: tuple[float, int] | None = None,
        cwnd: float | None = None,
    ) -> tuple[dict[str, list[Any]], float | None]:
        """Return the window of the first flow round by round, computed without a network.

        Returns columns `start_s`, `cwnd_pkts`, `ssthresh_pkts`, `sent_pkts` and `congestion`, with
        one row per round trip, and the mean window by the algorithm's response function, or None
        if it has none. `loss` is a loss probability and the seed of the random losses.
        """

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes; empty in MesoNet."""

    @property
    def ends(self) -> tuple[str, str]:
        """Names of the sending and the receiving node of the first flow."""

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
        """Emulate the network between hosts at `nodes`, and write a run directory.

        Each of `programs` has the number of its host, the program with its arguments, and true if
        the emulation ends with this program. Returns the directory, the circumstances of the
        emulation as JSON, the reason why the directory is not `out` if it is another one, and the
        exception that stopped the emulation, if any. Raises EmulationError if the machine or the
        scenario does not allow an emulation.
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
        """Simulate the scenario, and write a run directory at `out`.

        Returns the directory, and the exception that stopped the run, if any. The run is stopped
        when `limit` has passed, and before it takes more than `memory_bytes` of memory, by default
        nine tenths of the available memory. During the run, `latest` holds the latest samples.
        A MesoNet run uses `threads` threads; their number does not change the results.

        Each function of `measures` is called with each finished interval of MesoNet. It returns
        values by name, with the same names each time; they become one row of a table.

        `progress` is called about ten times a second with the simulated seconds and the number of
        data packets so far. If it raises an exception, the run stops, as it does on Ctrl-C; the
        records so far are kept and marked as stopped.
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
    """Compute the hybrid model; `longhaul.models.hybrid` describes the arguments.

    Returns tables by name, with a row for each interval. Their columns are flows
    (`throughput_pps`, `rtt_s`, `window_pkts`, `reductions`) or queues (`queue_pkts`, `served_pps`,
    `dropped_pps`).
    """

def algorithms() -> dict[str, Any]:
    """Return all congestion control algorithms and slow starts: law, parameters, sources."""

def queues() -> list[dict[str, Any]]:
    """Return all queue disciplines, with their keys and sources."""

def scenario_keys() -> list[dict[str, str]]:
    """Return all keys of scenarios: name, description, allowed values, unit, default, source."""

def traffic() -> list[dict[str, Any]]:
    """Return all kinds of traffic, with their keys."""

def profiles() -> list[dict[str, str]]:
    """Return all profiles, with their descriptions."""

def columns() -> list[dict[str, str]]:
    """Return all columns of the tables of a run of links: table, name, unit, description.

    A column whose `only_with` names a key is in the table only if a link of the run has that key.
    """

def seconds(text: str) -> float:
    """Convert a time with its unit, such as `100 ms`, to seconds."""

def bits_per_second(text: str) -> int:
    """Convert a rate with its unit, such as `10 Mbps`, to bits per second."""

def check_controller(address: str) -> None:
    """Check that a controller in another process answers at this address.

    Raises:
        AlgorithmError: no process listens there, or it does not know the protocol.

    """

def describe_module(file: str | Path) -> dict[str, Any]:
    """Describe an object file that `longhaul module build` wrote.

    Returns `name`, `parameters` (name, type and default of each), `hooks`, `needs` and `hz`.

    Raises:
        AlgorithmError: the file is not such an object, or was built with other headers or for
            another processor or system.

    """

def schema() -> str:
    """Return the JSON Schema of scenario files."""

def version() -> str: ...
def results_version() -> int:
    """Return the number that changes when the same scenario gives other results."""

def build_profile() -> str:
    """Return the build profile of the engine, `release` or `debug`."""
