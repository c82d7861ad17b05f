"""Evaluation of arithmetic on metrics in claims and figures, such as `100*rf/(1+rf)`."""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache

Number = Callable[[Mapping[str, float]], float]

# Pattern of a metric's name. A name with dots, such as `T.y1`, cannot be part of an expression.
NAME = re.compile(r"[A-Za-z_][\w.]*")
# Name of the only function that expressions may call.
SIZE = "abs"

OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@cache
def metrics(text: str) -> tuple[str, ...]:
    """Return the names of the metrics in an expression, without repetition.

    Raise ValueError if the expression is invalid.
    """
    if is_metric(text):
        return (text,)
    number(text)
    names = [node.id for node in ast.walk(_tree(text)) if isinstance(node, ast.Name)]
    return tuple(dict.fromkeys(name for name in names if name != SIZE))


def is_metric(text: str) -> bool:
    """Return true if a text is the name of a metric and not an expression."""
    return NAME.fullmatch(text) is not None


@cache
def number(text: str) -> Number:
    """Return a function that evaluates the expression `text`, given the metrics' values by name."""
    if is_metric(text):
        return lambda values: values[text]
    return _number(_tree(text), text)


def _tree(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        raise _refused(text) from None


def _number(node: ast.expr, text: str) -> Number:
    match node:
        case ast.Name(id=name) if name != SIZE:
            return lambda values: values[name]
        case ast.Constant(value=int() | float() as value):
            return lambda values: value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _number(operand, text)
            return lambda values: -inner(values)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name == SIZE:
            size = _number(argument, text)
            return lambda values: abs(size(values))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            made, first, second = OPERATORS[type(op)], _number(left, text), _number(right, text)
            return lambda values: made(first(values), second(values))
    raise _refused(text)


def _refused(text: str) -> ValueError:
    return ValueError(f"expected metrics, numbers, + - * /, parentheses and abs(), found `{text}`")
