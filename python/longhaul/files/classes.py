"""Search for algorithm classes in Python files, without executing the files."""

import ast
from pathlib import Path

from longhaul._engine import LonghaulError


class ClassError(LonghaulError):
    """Error: a file has no algorithm class, has several, or is not valid Python."""


def only_algorithm(file: Path) -> str:
    """Return the name of a file's only class that derives from `CongestionControl`.

    Only classes at the top level with `CongestionControl` in the text of a base are found, not
    classes that derive from these. Any other number of classes is an error.
    """
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except SyntaxError as error:
        # A file with an unknown encoding or a null byte is refused as a whole.
        place = f"{file}:{error.lineno}" if error.lineno else file
        raise ClassError(f"{place}: {error.msg}") from None
    names = [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and any("CongestionControl" in ast.unparse(base) for base in node.bases)
    ]
    if len(names) != 1:
        found = f"found {', '.join(names)}" if names else "found none"
        raise ClassError(
            f"{file}: expected one class that derives from CongestionControl, {found}; "
            f"say which, as in {file}:{names[0] if names else 'MyClass'}"
        )
    return names[0]
