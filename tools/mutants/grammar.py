"""Node types of the syntax trees of Rust and Python that mutants change."""

from dataclasses import dataclass

import tree_sitter_python
import tree_sitter_rust
from tree_sitter import Language

_KINDS = {
    "comparison": (
        {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
        | {"is": "is not", "is not": "is", "in": "not in", "not in": "in"}
    ),
    "logic": {"&&": "||", "||": "&&", "and": "or", "or": "and"},
    "arithmetic": {"+": "-", "-": "+", "*": "/", "/": "*"}
    | {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="},
}
OPERATORS = {old: (kind, new) for kind, table in _KINDS.items() for old, new in table.items()}
BOUNDS = {"min": "max", "max": "min"}
BOOLEANS = {"true": "false", "false": "true", "True": "False", "False": "True"}


@dataclass(frozen=True)
class Grammar:
    """Grammar of one language: types of syntax nodes, and texts of changed code."""

    language: Language
    function: str
    """Type of the syntax node of a function definition."""
    negation: str
    """Format of a negated condition."""
    conditions: frozenset[str]
    """Types of syntax nodes that have a condition, such as `if_statement`."""
    numbers: frozenset[str]
    actions: frozenset[str]
    """Types of expressions that a mutation may delete if they stand as statements."""
    exits: frozenset[str]
    """Types of statements, other than expressions, that leave a function."""
    skipped: frozenset[str]
    """Types of syntax nodes without executed expressions, such as types and patterns."""
    skipped_fields: frozenset[str]
    """Fields of syntax nodes whose nodes are not changed."""
    defaults: dict[str, list[str]]
    """Values that a changed function returns without running its body, by its return type."""
    optional: str
    """Text that marks a return type with None, such as `Option<`."""


RUST = Grammar(
    language=Language(tree_sitter_rust.language()),
    function="function_item",
    negation="!({})",
    conditions=frozenset({"if_expression", "while_expression"}),
    numbers=frozenset({"integer_literal", "float_literal"}),
    actions=frozenset(
        {"call_expression", "assignment_expression", "compound_assignment_expr"}
        | {"return_expression"}
    ),
    exits=frozenset(),
    skipped=frozenset({"const_item", "static_item", "token_tree", "attribute_item", "const_block"}),
    skipped_fields=frozenset({"pattern", "type", "type_arguments", "length", "field"}),
    defaults={
        "": [""],
        "bool": ["true", "false"],
        "f64": ["0.0"],
        **{whole: ["0"] for whole in ("usize", "u32", "u64")},
    },
    optional="Option<",
)
PYTHON = Grammar(
    language=Language(tree_sitter_python.language()),
    function="function_definition",
    negation="not ({})",
    conditions=frozenset({"if_statement", "elif_clause", "while_statement"}),
    numbers=frozenset({"integer", "float"}),
    actions=frozenset({"call", "augmented_assignment", "assignment"}),
    exits=frozenset({"return_statement", "raise_statement"}),
    skipped=frozenset(
        {"type", "string", "case_pattern", "decorator", "parameters", "assert_statement"}
    ),
    skipped_fields=frozenset(),
    defaults={
        "": [""],
        "None": ["None"],
        "bool": ["True", "False"],
        "float": ["0.0"],
        "int": ["0"],
        "str": ['""'],
    },
    optional="| None",
)
