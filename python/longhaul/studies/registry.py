"""Registry of functions by name: measures of claims, or writers of tables in READMEs."""

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Registry(dict[str, Function]):
    """Dictionary of the functions that were registered, by name."""

    def register(self, function: Function) -> Function:
        """Add a function under its own name, and return the function, as decorators do."""
        self[function.__name__] = function
        return function
