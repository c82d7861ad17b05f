"""Factors, and the scenario keys that they set, in files of campaigns, studies and suites.

```toml
[factors]
loss  = { path = "topology.dumbbell.bottleneck.loss.bernoulli", levels = [1e-5, 1e-3] }
queue = { path = "...bottleneck.queue", levels = { short = { kind = "droptail" }, red = {} } }
rtt   = { path = "...bottleneck.delay", levels = [10, 50], unit = "ms" }
n     = [2, 4, 8]                        # sets no key itself: [set] has the keys that depend on n

[set]
"flows.cubic.count" = "n"
"flows.reno.count"  = { factor = "n", times = 0.5 }
"flows.*.start"     = { factor = "n", of = { 2 = "0 s", 4 = "1 s", 8 = "2 s" } }
"...rate"           = { factor = "n", times = 10, unit = "Mbps" }
"...limit"          = { value = "1 BDP", when = { queue = ["short"] } }
```
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longhaul._engine import LonghaulError
from longhaul.campaign.sweep import Level, Setting
from longhaul.files.names import suggestion, unknown

# Expected types of values, by the word for the type in messages; a list has texts or levels.
HOLDS = {
    "text": str, "a table": dict, "a truth value": bool, "a whole number": int,
    "a decimal one": float, "a list of texts": list, "a list of levels": list,
}  # fmt: skip
FACTOR = {
    "path": "text or a list of texts", "levels": "a list of levels or a table", "unit": "text",
}  # fmt: skip
SETTING = {
    "factor": "text", "times": "a whole number or a decimal one", "unit": "text", "of": "a table",
    "value": "", "when": "a table",
}  # fmt: skip


class FactorError(LonghaulError):
    """Error: a factor, or a key that it sets, is invalid; the message names the key."""


@dataclass(frozen=True)
class Factors:
    """Levels of each factor, and the scenario keys that are set from them."""

    levels: Mapping[str, Sequence[Level]]
    settings: Mapping[str, Setting]


def read_factors(
    factors: Mapping[str, Any], places: Mapping[str, Any], others: Collection[str] = ()
) -> Factors:
    """Read the tables `factors` and `set` of a file, given as `factors` and `places`.

    Values in `set` may also depend on the factors named in `others`.
    """
    levels: dict[str, Sequence[Level]] = {}
    settings: dict[str, Setting] = {}
    values: dict[str, Mapping[str, Any]] = {}
    for name, written in factors.items():
        table = written if isinstance(written, Mapping) else {"levels": written}
        given: Any = table.get("levels")
        refuse_unknown(f"factors.{name}.", {**table, "levels": given}, FACTOR)
        if isinstance(given, Mapping):
            values[name] = given
        levels[name] = list(given)
        paths = table.get("path", [])
        for path in [paths] if isinstance(paths, str) else paths:
            settings[path] = Setting(factor=name, of=values.get(name), unit=table.get("unit", ""))
    refuse_unknown("set.", places, dict.fromkeys(places, "text or a table"))
    for path, written in places.items():
        settings[path] = _setting(path, written, values, (*levels, *others))
    return Factors(levels, settings)


def _setting(
    path: str,
    written: Any,  # noqa: ANN401
    values: Mapping[str, Mapping[str, Any]],
    known: Sequence[str],
) -> Setting:
    table: dict[str, Any] = {"factor": written} if isinstance(written, str) else dict(written)
    where = f'set."{path}".'
    refuse_unknown(where, table, SETTING)
    refuse_unknown(f"{where}when.", table.get("when", {}), dict.fromkeys(known, "a list of levels"))
    if ("factor" in table) == ("value" in table):
        raise FactorError(f'set."{path}": expected either `factor` or `value`')
    factor = table.get("factor", "")
    if factor not in ("", *known):
        raise FactorError(f'set."{path}": {unknown("factor", factor, known)}')
    return Setting(**{"of": values.get(factor), **table})


def refuse_unknown(where: str, table: Mapping[str, Any], known: Collection[str]) -> None:
    """Raise an error for keys of a table that are not in `known`, with the nearest known key.

    `where` precedes the key in the message. If `known` maps keys to types (words of `HOLDS`),
    values of other types are errors too.
    """
    for key, value in table.items():
        if key not in known:
            raise FactorError(f"{where}{key}: unknown{suggestion(key, known)}")
        words = known[key] if isinstance(known, Mapping) else ""
        parts = value if isinstance(value, list) else ()
        kinds = [str] if "texts" in words else [str, int, float, bool]
        if words and (
            type(value) not in [HOLDS[word] for word in words.split(" or ")]
            or any(type(part) not in kinds for part in parts)
        ):
            raise FactorError(f"{where}{key} = {value!r}: expected {words}")
