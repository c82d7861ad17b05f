"""Translation of flows of ns-2's TCP/Linux to a scenario: module, clock and loss recovery.

`Agent/TCP/Linux` runs the congestion control modules of Linux 2.6.22 above ns-2's own transport
(tcp-linux.cc, scoreboard1.cc). The agent measures round trips with timestamps in ticks of 1 ms.
"""

from __future__ import annotations

from typing import Any

from validation.ns2.cases import Case, FlowGroup

LINUX_RECOVERY = "rack-tlp-prr"
"""Loss recovery of the simulated flows, in place of the scoreboard of TCP/Linux.

Like the scoreboard, RACK detects lost retransmissions; the recovery of RFC 6675 does not.
"""

LINUX_SLOW_START = {"kind": "linux"}

MODULES = {
    "reno": ("reno", "paper"),
    "bic": ("bic", "linux-2.6.22"),
    "compound": ("ctcp", "paper"),
    "cubic": ("cubic", "linux-2.6.22"),
    "highspeed": ("hstcp", "linux-2.6.22"),
    "htcp": ("htcp", "linux-2.6.22"),
    "illinois": ("illinois", "linux-2.6.22"),
    "scalable": ("scalable", "linux-2.6.22"),
    "vegas": ("vegas", "linux-2.6.22"),
    "veno": ("veno", "linux-2.6.22"),
    "westwood": ("westwood", "linux-2.6.22"),
    "yeah": ("yeah", "paper"),
}
"""Longhaul's `kind` and `variant` for each module of ns-2 that is compared."""

NOT_COMPARED = {
    "A7_bic_100M, A7_cubic_100M": "after the first reduction the window is still larger than the "
    "sum of BDP and buffer, so that retransmissions are lost repeatedly for two seconds",
    "A7_vegas_100M": "the window cannot fall below the ssthresh of the first loss, and "
    "stays there with 97 packets queued",
    "A7_hybla_100M, A7_hybla_250M": "the window stops growing after the first loss, since the "
    "increase, in 128ths of a packet, is rounded to zero",
    "A7_lp_100M, A7_lp_250M": "the window falls to one packet repeatedly, so that the flow "
    "uses 6 % of the link",
}
"""Cases that do not test the published algorithm, with the reason for each."""

REASONS = {
    "A7_westwood_250M": "only the first 20 s differ. In slow start Westwood underestimates the "
    "bandwidth. Longhaul sets ssthresh to this estimate at a loss. The Linux module sets window "
    "and ssthresh to the estimate at the end of a recovery (`CA_EVENT_COMPLETE_CWR`), but ns-2's "
    "TCP/Linux does not send this event to its modules, so that ssthresh remains half of the "
    "window. With this ssthresh Longhaul's values are within 0.4 % of ns-2's",
}
"""Reasons for values outside their bounds, by case; experiments confirmed each reason."""


def linux_tcp(case: Case) -> dict[str, Any]:
    """Return the `tcp` table for the flows of a case with ns-2's TCP/Linux."""
    return {
        "initial_window": case.number("iw"),
        "receive_window": int(case.number("window")),
        "timestamps": True,
        # ACKs have 40 bytes, as in ns-2: Longhaul adds the 10 bytes of the timestamp option.
        "ack_size": "30 B",
        "sack_block": "0 B",
        "rto": {
            "initial": "3 s",
            "min": f"{case.number('minrto')} s",
            "max": "120 s",
            "tick": "1 ms",
        },
    }


def linux_congestion(group: FlowGroup) -> dict[str, str]:
    """Return the `congestion` table for the module of a group of flows."""
    kind, variant = MODULES[group.kind.removeprefix("linux:")]
    return {"kind": kind, "variant": variant}
