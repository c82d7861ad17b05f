"""Graph of imports between files, and the cycles in it."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

Graph = Mapping[str, frozenset[str]]
"""Map from each module's name to the names of the modules that it imports."""


def circles(graph: Graph) -> list[list[str]]:
    """Return groups of modules that import each other, directly or indirectly (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def python_imports(package: Path) -> Graph:
    """Return the imports between a Python package's modules.

    Imports in functions and imports for type checkers are included.
    """
    files = {}
    for file in package.rglob("*.py"):
        parts = file.relative_to(package.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    compiled = {f"{package.name}.{file.stem}" for file in package.glob("*.pyi")}

    def named(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                part = f"{node.module}.{alias.name}"
                yield part if part in files or part in compiled else node.module

    return {
        module: frozenset(
            name
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            for name in named(node)
            if name in files and name != module
        )
        for module, file in files.items()
    }


def rust_imports(crate: Path) -> Graph:
    """Return the imports between a crate's files, except in tests.

    A path counts as an import of the file that defines its item, not of files that re-export the
    item. A `mod.rs` that only lists its submodules is thus in no cycle.
    """
    return _Crate(crate / "src").imports()


_WORD = r"[A-Za-z_][A-Za-z_0-9]*"
_USE = re.compile(r"\b(pub(?:\([a-z ]+\))?\s+)?use\s+([^;]+);")
_PATH = re.compile(rf"\b(?:crate|self|super)(?:::{_WORD})+")
_NOISE = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"', re.DOTALL)
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*\{.*", re.DOTALL)

Path_ = tuple[str, ...]


class _Crate:
    """Modules of a crate with source texts and imports; the root module has an empty path."""

    def __init__(self, root: Path) -> None:
        self.texts: dict[Path_, str] = {}
        for file in root.rglob("*.rs"):
            parts = file.relative_to(root).with_suffix("").parts
            if "tests" in parts:
                continue
            module = parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts
            text = _NOISE.sub("", file.read_text(encoding="utf-8"))
            self.texts[module] = _TESTS.sub("", text)
        self.uses = {module: list(_uses(text)) for module, text in self.texts.items()}

    def imports(self) -> Graph:
        return {
            "::".join(("crate", *module)): frozenset(
                "::".join(("crate", *other)) for other in self._imported(module)
            )
            for module in self.texts
        }

    def _imported(self, module: Path_) -> set[Path_]:
        plain = _USE.sub("", self.texts[module])
        paths = [path for path, _ in self.uses[module]]
        paths += [tuple(found.split("::")) for found in _PATH.findall(plain)]
        homes = {self._home(module, path) for path in paths}
        return {home for home in homes if home is not None and home != module}

    def _absolute(self, module: Path_, path: Path_) -> Path_ | None:
        """Return `path`, as written in `module`, from the crate's root; None for other crates."""
        first, *rest = path
        if first == "crate":
            return tuple(rest)
        if first == "self":
            return (*module, *rest)
        if first == "super":
            while rest and rest[0] == "super":
                module, rest = module[:-1], rest[1:]
            return (*module[:-1], *rest)
        return (*module, *path) if (*module, first) in self.texts else None

    def _home(self, module: Path_, path: Path_, depth: int = 0) -> Path_ | None:
        """Return the module that defines what `module` imports by `path`, through re-exports."""
        full = self._absolute(module, path)
        if full is None:
            return None
        home = next(full[:n] for n in range(len(full), -1, -1) if full[:n] in self.texts)
        if len(home) < len(full) and depth < 8:
            name = full[len(home)]
            for target, alias in self.uses[home]:
                if alias == name and (found := self._home(home, target, depth + 1)) is not None:
                    return found
        return home


def _uses(text: str) -> Iterator[tuple[Path_, str]]:
    """Yield the path and the local name of each item that a file imports or re-exports."""
    for _, tree in _USE.findall(text):
        for leaf in _leaves("".join(tree.replace(" as ", "~").split())):
            path, _, alias = leaf.partition("~")
            parts = tuple(path.split("::"))
            if parts[-1] == "self":
                parts = parts[:-1]
            if parts[-1] == "*":
                yield parts[:-1], "*"
            else:
                yield parts, alias or parts[-1]


def _leaves(tree: str) -> Iterator[str]:
    """Yield the paths of a `use` tree such as `a::{b, c::d}`."""
    opened = tree.find("{")
    if opened < 0:
        yield tree
        return
    prefix, inside = tree[:opened], tree[opened + 1 : tree.rindex("}")]
    depth, start = 0, 0
    for place, character in enumerate(inside + ","):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            if part := inside[start:place]:
                yield from (prefix + leaf for leaf in _leaves(part))
            start = place + 1
