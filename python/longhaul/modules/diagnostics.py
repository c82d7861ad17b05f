"""Explanation of a module's compiler errors for readers who know the kernel's headers."""

import re
from collections.abc import Sequence
from pathlib import Path

# Kernel headers by prefix of names of functions, constants and types; longer prefixes first.
PLACES = (
    ("tcp_cong", "include/net/tcp.h"),
    ("tcp_", "include/net/tcp.h"),
    ("TCP", "include/net/tcp.h"),
    ("CA_", "include/net/tcp.h"),
    ("inet_csk", "include/net/inet_connection_sock.h"),
    ("inet_", "include/net/inet_sock.h"),
    ("INET_ECN", "include/net/inet_ecn.h"),
    ("sk_", "include/net/sock.h"),
    ("sock_", "include/net/sock.h"),
    ("skb_", "include/linux/skbuff.h"),
    ("ktime_", "include/linux/ktime.h"),
    ("hrtimer_", "include/linux/hrtimer.h"),
    ("timer_", "include/linux/timer.h"),
    ("jiffies", "include/linux/jiffies.h"),
    ("module_", "include/linux/moduleparam.h"),
    ("param_", "include/linux/moduleparam.h"),
    ("bpf_", "include/linux/bpf.h"),
    ("list_", "include/linux/list.h"),
    ("atomic_", "include/linux/atomic.h"),
    ("rcu_", "include/linux/rcupdate.h"),
    ("spin_", "include/linux/spinlock.h"),
    ("get_random", "include/linux/random.h"),
    ("prandom", "include/linux/prandom.h"),
    ("div", "include/linux/math64.h"),
    ("kmalloc", "include/linux/slab.h"),
    ("kzalloc", "include/linux/slab.h"),
    ("kcalloc", "include/linux/slab.h"),
    ("krealloc", "include/linux/slab.h"),
    ("kmem_", "include/linux/slab.h"),
    ("kfree_skb", "include/linux/skbuff.h"),
    ("kfree_rcu", "include/linux/rcupdate.h"),
    ("kfree", "include/linux/slab.h"),
)

# Structs of the kernel that are one struct here, by prefix of their members.
STRUCTS = (
    ("icsk_", "struct inet_connection_sock, include/net/inet_connection_sock.h"),
    ("sk_", "struct sock, include/net/sock.h"),
    ("inet_", "struct inet_sock, include/net/inet_sock.h"),
    ("", "struct tcp_sock, include/linux/tcp.h"),
)

ERROR = re.compile(r"^(.+?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.MULTILINE)
QUOTED = r"['`\"]([^'`\"]+)['`\"]"
UNDEFINED = re.compile(rf"undefined reference to {QUOTED}|Undefined symbols?.*?\"_?(\w+)\"", re.S)


def explain(errors: str, files: Sequence[Path]) -> str:
    """Return the compiler's first error.

    If Longhaul's substitutes for kernel headers lack an item, the text names the item's header.
    """
    first = ERROR.search(errors)
    undefined = UNDEFINED.search(errors)
    if first is not None:
        place = f"{first[1]}:{first[2]}"
        return f"{place}: {_missing(first[3]) or first[3]}"
    if undefined is not None:
        return _undefined(undefined[1] or undefined[2], files)
    return errors.strip() or "the compiler failed and said nothing"


def _missing(message: str) -> str | None:
    """Return a message on a name that our kernel headers lack; None for other compiler errors."""
    undeclared = re.search(
        rf"implicit declaration of function {QUOTED}|undeclared (?:function|identifier) {QUOTED}"
        rf"|{QUOTED} undeclared|unknown type name {QUOTED}|undeclared here.*{QUOTED}",
        message,
    )
    if undeclared is not None:
        name = next(group for group in undeclared.groups() if group)
        return (
            f"`{name}` is not in the headers that stand in for the kernel's{_place(name)}. "
            "Define it in the module, or do without it"
        )
    member = re.search(rf"no member named {QUOTED}(?: in {QUOTED})?", message)
    if member is not None:
        owner = re.search(rf"^{QUOTED} has", message)
        return _missing_member(member[1], (owner[1] if owner else member[2]) or "")
    return None


def _missing_member(name: str, owner: str) -> str:
    if "rate_sample" in owner or "ack_sample" in owner or "tcp_congestion_ops" in owner:
        place = f"{owner}, include/net/tcp.h"
    elif "sock" in owner:
        place = next(place for begin, place in STRUCTS if name.startswith(begin))
    else:
        place = owner
    return (
        f"the headers that stand in for the kernel's have no member `{name}` "
        f"(in the kernel: {place})"
    )


def _place(name: str) -> str:
    place = next((place for begin, place in PLACES if name.startswith(begin)), None)
    return f" (in the kernel: {place})" if place else ""


def _undefined(name: str, files: Sequence[Path]) -> str:
    given = ", ".join(file.name for file in files)
    module = re.match(r"tcp_([a-z0-9]+)_", name)
    hint = f": give tcp_{module[1]}.c, too" if module and module[1] not in given else ""
    return f"{given}: `{name}` is declared but defined in none of these files{hint}"
