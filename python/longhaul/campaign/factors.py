"""What varies from run to run, as campaigns, experiments of studies and suites write it.

```toml
[factors]
loss  = { path = "topology.dumbbell.bottleneck.loss.bernoulli", levels = [1e-5, 1e-3] }
queue = { path = "...bottleneck.queue", levels = { short = { kind = "droptail" }, red = {} } }
rtt   = { path = "...bottleneck.delay", levels = [10, 50], unit = "ms" }
n     = [2, 4, 8]                        # no place of its own: [set] says what follows it

[set]
"flows.cubic.count" = "n"
"flows.reno.count"  = { factor = "n", times = 0.5 }
"flows.*.start"     = { factor = "n", of = { 2 = "0 s", 4 = "1 s", 8 = "2 s" } }
"...rate"           = { factor = "n", times = 10, unit = "Mbps" }
"...limit"          = { value = "1 BDP", when = { queue = ["short"] } }
```
"""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longhaul._engine import LonghaulError
from longhaul.campaign.sweep import Level, Setting


class FactorError(LonghaulError):
    """A factor, or a place that follows one, that cannot be used; the message names its key."""


@dataclass(frozen=True)
class Factors:
    """The levels of each factor, and which place in the scenario follows which."""

    levels: Mapping[str, Sequence[Level]]
    settings: Mapping[str, Setting]


def read_factors(
    factors: Mapping[str, Any], places: Mapping[str, Any], others: Collection[str] = ()
) -> Factors:
    """Read `factors` and `set`; places may follow factors that are declared elsewhere, too."""
    levels: dict[str, Sequence[Level]] = {}
    settings: dict[str, Setting] = {}
    values: dict[str, Mapping[str, Any]] = {}
    for name, written in factors.items():
        table = written if isinstance(written, Mapping) else {"levels": written}
        refuse_unknown(f"factors.{name}.", table, ("path", "levels", "unit"))
        given = table.get("levels")
        if not isinstance(given, Mapping | list):
            raise FactorError(f"factors.{name}.levels: expected a list or a table of levels")
        if isinstance(given, Mapping):
            values[name] = given
        levels[name] = list(given)
        paths = table.get("path", [])
        for path in [paths] if isinstance(paths, str) else paths:
            settings[path] = Setting(factor=name, of=values.get(name), unit=table.get("unit", ""))
    for path, written in places.items():
        settings[path] = _setting(path, written, values, (*levels, *others))
    return Factors(levels, settings)


def _setting(
    path: str,
    written: Any,  # noqa: ANN401
    values: Mapping[str, Mapping[str, Any]],
    known: Sequence[str],
) -> Setting:
    table = {"factor": written} if isinstance(written, str) else dict(written)
    refuse_unknown(f'set."{path}".', table, ("factor", "times", "unit", "of", "value", "when"))
    if ("factor" in table) == ("value" in table):
        raise FactorError(f'set."{path}": expected either `factor` or `value`')
    for factor in (*([table["factor"]] if "factor" in table else ()), *table.get("when", {})):
        if factor not in known:
            raise FactorError(
                f'set."{path}": unknown factor `{factor}`; available: {", ".join(known)}'
            )
    return Setting(**{"of": values.get(table.get("factor", "")), **table})


def refuse_unknown(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuse keys that do not exist, with the nearest one that does."""
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f" (did you mean `{near[0]}`?)" if near else ""
            raise FactorError(f"{where}{key}: unknown{hint}; available: {', '.join(known)}")
