"""Search for possible changes in the syntax tree of a file."""

import re
from collections.abc import Iterator
from pathlib import Path

from tree_sitter import Node, Parser

from tools.mutants.grammar import BOOLEANS, BOUNDS, OPERATORS, PYTHON, RUST, Grammar
from tools.mutants.mutation import Mutation
from tools.mutants.rooms import TREE

_GRAMMARS = {".rs": RUST, ".py": PYTHON}
_Change = tuple[str, Node, str]
"""A possible change: its kind, the changed node, and the new code."""


def sites(file: Path) -> list[Mutation]:
    """Return all possible changes in the functions of a file, except in tests."""
    grammar = _GRAMMARS[file.suffix]
    tree = Parser(grammar.language).parse((TREE / file).read_bytes())
    return [
        site
        for function in _functions(tree.root_node, grammar)
        for site in _of_function(file, function, grammar)
    ]


def _functions(node: Node, grammar: Grammar) -> Iterator[Node]:
    for child in node.named_children:
        before = child.prev_named_sibling
        attribute = _text(before) if before and before.type == "attribute_item" else ""
        if "test" in attribute:
            continue
        # A const function cannot contain a switch.
        modifiers = [_text(part) for part in child.children if part.type == "function_modifiers"]
        acts = child.type == grammar.function and not _prefetches(child, "name")
        if acts and "const" not in " ".join(modifiers):
            yield child
        yield from _functions(child, grammar)


def _of_function(file: Path, function: Node, grammar: Grammar) -> Iterator[Mutation]:
    body = function.child_by_field_name("body")
    if body is None:
        return
    name = _text(function.child_by_field_name("name"))
    for kind, node, mutated in _within(body, grammar):
        form = "expression" if mutated else "statement"
        yield Mutation(file, name, kind, node.start_byte, node.end_byte, mutated, form)
    statements = [child for child in body.named_children if "comment" not in child.type]
    if statements and _is_docstring(statements[0]):
        statements = statements[1:]
    for value in _defaults(function, grammar) if statements else ():
        at, first = statements[0].start_byte, _text(statements[0])
        # Not if the function only returns this value, since nothing would change.
        if first not in (value, f"return {value}"):
            yield Mutation(file, name, "return", at, at, f"return {value}".rstrip(), "entry")


def _is_docstring(statement: Node) -> bool:
    return statement.child_count == 1 and statement.children[0].type == "string"


def _defaults(function: Node, grammar: Grammar) -> list[str]:
    """Return the values that a changed `function` may return at once, without running its body."""
    returned = _text(function.child_by_field_name("return_type"))
    return grammar.defaults.get(returned, ["None"] if grammar.optional in returned else [])


def _within(node: Node, grammar: Grammar) -> Iterator[_Change]:
    """Yield the possible changes in `node` and below it."""
    for number, child in enumerate(node.children):
        guard = child.child_by_field_name("condition")
        if node.field_name_for_child(number) not in grammar.skipped_fields:
            if child.type not in grammar.skipped and child.type != grammar.function:
                yield from _of_node(child, grammar)
        elif child.type == "match_pattern" and guard is not None:
            yield from _of_node(guard, grammar)


def _of_node(node: Node, grammar: Grammar) -> Iterator[_Change]:
    yield from _operators(node)
    yield from _bounds(node)
    yield from _negations(node, grammar)
    yield from _constants(node, grammar)
    yield from _statements(node, grammar)
    yield from _within(node, grammar)


def _operators(node: Node) -> Iterator[_Change]:
    operator = node.child_by_field_name("operator") or node.child_by_field_name("operators")
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if node.type == "comparison_operator" and len(node.named_children) == 2:
        left, right = node.named_children
    # In Python this is a statement, whose switch would need further lines.
    is_statement = node.type == "augmented_assignment"
    if left and right and not is_statement and _text(operator) in OPERATORS:
        kind, new = OPERATORS[_text(operator)]
        yield kind, node, f"{_text(left)} {new} {_text(right)}"


def _bounds(node: Node) -> Iterator[_Change]:
    called = node.child_by_field_name("function")
    name = called and (called.child_by_field_name("field") or called)
    if name and _text(name) in BOUNDS:
        start, end = name.start_byte - node.start_byte, name.end_byte - node.start_byte
        whole = (node.text or b"").decode("latin-1")
        changed = whole[:start] + BOUNDS[_text(name)] + whole[end:]
        yield "bounds", node, changed.encode("latin-1").decode()


def _negations(node: Node, grammar: Grammar) -> Iterator[_Change]:
    condition = node.child_by_field_name("condition")
    if node.type == "conditional_expression":
        condition = node.named_children[1]
    elif node.type not in grammar.conditions:
        condition = None
    if condition and not condition.type.startswith("let_"):
        yield "negation", condition, grammar.negation.format(_text(condition))
    unary = node.type in ("unary_expression", "not_operator", "unary_operator")
    if unary and _text(node)[0] in "!-n":
        yield "negation", node, _text(node.named_children[-1])


_INTEGER = re.compile(r"([\d_]+)([iu]\w+)?")
_FLOAT = re.compile(r"([\d_]*\.[\d_]*(?:e-?\d+)?|[\d_]+e-?\d+)(f64)?")


def _constants(node: Node, grammar: Grammar) -> Iterator[_Change]:
    text = _text(node)
    named = node.parent and _text(node.parent.child_by_field_name("name"))
    if named == "strict":
        # `zip(..., strict=True)` asserts that lengths are equal.
        return
    if node.type in ("boolean_literal", "true", "false"):
        yield "constant", node, BOOLEANS[text]
    if node.type not in grammar.numbers:
        return
    if match := _INTEGER.fullmatch(text):
        value = int(match[1].replace("_", ""))
        for other in {value + 1, max(value - 1, 0)} - {value}:
            yield "constant", node, f"{other}{match[2] or ''}"
    elif match := _FLOAT.fullmatch(text):
        real = float(match[1].replace("_", ""))
        for scaled in (2 * real, real / 2) if real else (1.0,):
            yield "constant", node, repr(scaled)


def _statements(node: Node, grammar: Grammar) -> Iterator[_Change]:
    """Yield the removal of `node` if it is a statement that has an effect or leaves a function."""
    parent = node.parent
    if node.type in grammar.exits:
        # The last statement is a function's value, which other kinds of change cover.
        if parent and parent.parent and parent.parent.type != grammar.function:
            yield node.type.partition("_")[0].replace("raise", "statement"), node, ""
    elif node.type == "expression_statement" and _text(node).endswith(";") == (grammar is RUST):
        acts = node.named_children[0]
        if acts.type in grammar.actions and not (_names(acts) or _prefetches(acts, "function")):
            yield "return" if acts.type.startswith("return") else "statement", node, ""


def _prefetches(node: Node, field: str) -> bool:
    """Return true if a function or a call only prefetches memory: its name begins with "prefetch".

    `field` is the field of `node` with the name.
    """
    name = re.split(r"\.|::", _text(node.child_by_field_name(field)))[-1]
    return name.startswith("prefetch")


def _names(statement: Node) -> bool:
    """Return true for a Python assignment to local variables, which later statements need."""
    left = statement.child_by_field_name("left")
    made = left is not None and left.type in ("identifier", "pattern_list")
    return statement.type == "assignment" and made


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode()
