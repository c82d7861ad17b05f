"""The kinds of simulation: another one is a line here.

Connections over links, which most scenarios describe, are no entry: what `longhaul.Results`,
`comparison` and `plots` do without asking a kind is about them.
"""

from collections.abc import Mapping
from typing import Any

from longhaul.kind import Kind
from longhaul.mesonet.kind import MESONET

KINDS: tuple[Kind, ...] = (MESONET,)


def of(tables: Mapping[str, Any]) -> Kind | None:
    """The kind of a scenario or of a run's `run.json`; none of connections over links."""
    return next((kind for kind in KINDS if isinstance(tables.get(kind.name), Mapping)), None)
