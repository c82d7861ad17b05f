"""Two-level factorial designs: full, from given generators, or of minimum aberration."""

from collections.abc import Sequence

import numpy as np

from longhaul.designs import properties, search
from longhaul.designs.design import Design, Factor
from longhaul.designs.properties import DesignError
from longhaul.files.names import suggestion

ROMAN = ("0", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


def named(factors: int | Sequence[str] | Sequence[Factor]) -> tuple[Factor, ...]:
    """Return two-level factors; if `factors` is a number, they are named `x1`, `x2` and so on."""
    if isinstance(factors, int):
        if factors < 1:
            raise DesignError(f"expected at least 1 factor, found {factors}")
        factors = [f"x{i + 1}" for i in range(factors)]
    whole = tuple(f if isinstance(f, Factor) else Factor(f) for f in factors)
    for factor in whole:
        if len(factor.levels) != 2:
            raise DesignError(
                f"factor {factor.name}: expected two levels, found {len(factor.levels)}"
            )
    return whole


def standard_order(basic: int) -> np.ndarray:
    """Return all combinations of -1 and +1 of `basic` factors in Yates order.

    The first column changes fastest.
    """
    runs = np.arange(2**basic)[:, None]
    order: np.ndarray = (runs >> np.arange(basic) & 1) * 2 - 1
    return order


def two_level(
    factors: int | Sequence[str] | Sequence[Factor],
    *,
    generators: Sequence[str] = (),
    runs: int | None = None,
    resolution: int | None = None,
) -> Design:
    """Return a two-level factorial design.

    `generators`, such as `x6 = x1*x2*x3` or `x6 = -x1*x2`, define a fraction; `runs` and
    `resolution` are then ignored. `runs` selects the fraction of least aberration that the search
    finds with this number of runs. `resolution` selects the smallest fraction that the search finds
    with at least this resolution. If it finds none, the result is the full factorial with up to 10
    factors, and DesignError is raised with more. DesignError is also raised if `runs` and
    `resolution` are both given and the fraction misses the resolution. If none of the three is
    given, the result is the full factorial.
    """
    whole = named(factors)
    if generators:
        return _by_generators(whole, generators)
    if runs is None and resolution is None:
        return Design(whole, standard_order(len(whole)), f"2^{len(whole)} full factorial")
    if runs is not None:
        return _checked(_of_runs(whole, runs), resolution)
    assert resolution is not None
    return _of_resolution(whole, resolution)


def _of_runs(factors: tuple[Factor, ...], runs: int) -> Design:
    basic = runs.bit_length() - 1
    if runs < 2 or runs != 2**basic:
        near = f"{2**basic} or {2 ** (basic + 1)}" if runs > 1 else "2"
        raise DesignError(
            f"expected a power of two of runs for a two-level fraction, such as {near}; "
            f"found {runs}"
        )
    if basic > len(factors):
        full = 2 ** len(factors)
        raise DesignError(
            f"{runs} runs are more than the full factorial's {full}; use replications"
        )
    return _of_columns(factors, search.least_aberration(len(factors), basic), basic)


def _of_columns(factors: tuple[Factor, ...], masks: Sequence[int], basic: int) -> Design:
    names = [factor.name for factor in factors]
    generators = [
        f"{name} = " + "*".join(names[i] for i in range(basic) if mask >> i & 1)
        for name, mask in zip(names[basic:], masks[basic:], strict=True)
    ]
    if not generators:
        return Design(factors, standard_order(basic), f"2^{basic} full factorial")
    return _by_generators(factors, generators)


def _of_resolution(factors: tuple[Factor, ...], wanted: int) -> Design:
    if wanted < 3:
        raise DesignError(f"expected a resolution of at least 3, found {wanted}")
    count = len(factors)
    for basic in range(search.fewest_runs(count, wanted), min(count, search.MAX_BASIC + 1)):
        if count < 2**basic:
            design = _of_columns(factors, search.least_aberration(count, basic), basic)
            reached = properties.resolution(properties.word_lengths(design.coded))
            if reached is not None and reached >= wanted:
                return design
    if count > search.MAX_BASIC:
        raise DesignError(
            f"{count} factors: no fraction of resolution {roman(wanted)} was found in "
            f"{2**search.MAX_BASIC} runs or fewer; take fewer factors or a lower resolution"
        )
    return Design(factors, standard_order(count), f"2^{count} full factorial")


def _checked(design: Design, wanted: int | None) -> Design:
    """Return the design; raise DesignError if its resolution is lower than `wanted`."""
    reached = properties.resolution(properties.word_lengths(design.coded))
    if wanted is None or reached is None or reached >= wanted:
        return design
    enough = _of_resolution(design.factors, wanted)
    raise DesignError(
        f"{len(design.factors)} factors in {design.runs} runs: the best found has resolution "
        f"{roman(reached)}, not {roman(wanted)}; that takes {enough.runs} runs"
    )


def _by_generators(factors: tuple[Factor, ...], generators: Sequence[str]) -> Design:
    names = [factor.name for factor in factors]
    written = dict(map(_parsed, generators))
    if len(written) < len(generators):
        raise DesignError(f"expected a generator a factor, found {', '.join(generators)}")
    for name in written:
        if name not in names:
            raise DesignError(f"unknown factor `{name}` of a generator{suggestion(name, names)}")
    basic = [name for name in names if name not in written]
    order = standard_order(len(basic))
    columns = {name: order[:, i] for i, name in enumerate(basic)}
    for name, (sign, word) in written.items():
        if unknown := [letter for letter in word if letter not in columns]:
            raise DesignError(
                f"the generator of {name} has the unknown factor `{unknown[0]}`"
                f"{suggestion(unknown[0], basic)}"
            )
        columns[name] = sign * np.prod([columns[letter] for letter in word], axis=0)
    matrix = np.stack([columns[name] for name in names], axis=1)
    fraction = len(written)
    clean = tuple(
        f"{name} = {'' if sign > 0 else '-'}{'*'.join(word)}"
        for name, (sign, word) in written.items()
    )
    return Design(factors, matrix, f"2^({len(names)}-{fraction}) fraction", clean)


def _parsed(generator: str) -> tuple[str, tuple[int, list[str]]]:
    """Parse a generator such as `x6 = -x1*x2`: return `x6`, and a pair of sign and factors."""
    name, equals, product = generator.partition("=")
    product = product.strip()
    letters = [letter.strip() for letter in product.lstrip("+-").split("*")]
    if not equals or not name.strip() or not all(letters) or len({*letters}) < len(letters):
        raise DesignError(
            f"generator `{generator}`: expected different factors, such as `x6 = x1*x2*x3`"
        )
    return name.strip(), (-1 if product.startswith("-") else 1, letters)


def roman(resolution: int | None) -> str:
    """Return a resolution as a Roman numeral; `full` for None, that is, for a full factorial."""
    if resolution is None:
        return "full"
    return ROMAN[resolution] if resolution < len(ROMAN) else str(resolution)
