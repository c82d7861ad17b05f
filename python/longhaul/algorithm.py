"""Loading, checking and error messages of congestion control that users write in Python.

The compiled engine calls `load` while it reads a scenario and `explain` when an algorithm raises.
"""

import ctypes
import difflib
import hashlib
import inspect
import json
import linecache
import signal
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from longhaul._engine import AlgorithmError
from longhaul.congestion import CongestionControl

Class = type[CongestionControl]

METHODS = (
    "on_ack",
    "on_round",
    "observe",
    "on_congestion",
    "on_timeout",
    "on_recovery_exit",
    "on_idle",
    "pacing_rate",
)
PHASES = ("avoidance", "slow start", "all")


@dataclass(frozen=True)
class UserAlgorithm:
    """A user's algorithm class that passed all checks, with the parameters for its constructor."""

    name: str
    # Function that makes the object of one flow; its arguments are the parameters.
    make: Class
    parameters: dict[str, Any]
    methods: list[str]
    phases: str
    file: str
    source: str


def load(
    name: str,
    file: str | None,
    text: str | None,
    parameters: str,
    given: Mapping[str, Class] | None,
) -> UserAlgorithm:
    """Find the class `name` in the `text` of `file` or, without a file, among the `given` classes.

    `parameters` is a JSON object. Raise AlgorithmError if the class cannot be used.
    """
    if file is not None and text is not None:
        loaded = _class_of(_executed(file, text), name, file)
    elif given and name in given:
        loaded = given[name]
        file, text = _written(loaded)
    else:
        raise AlgorithmError(_unknown(name, given or ()))
    keys: dict[str, Any] = json.loads(parameters)
    _check_parameters(loaded, keys)
    methods = [
        name for name in METHODS if getattr(loaded, name) is not getattr(CongestionControl, name)
    ]
    if "on_ack" not in methods and "on_round" not in methods:
        raise AlgorithmError(f"{name}: expected a method on_ack or on_round, found neither")
    if loaded.phases not in PHASES:
        raise AlgorithmError(
            f"{name}.phases: expected one of {', '.join(PHASES)}, found {loaded.phases!r}"
        )
    try:
        loaded(**keys)
    except (Exception, SystemExit, _LimitReached) as error:
        raise AlgorithmError(explain(error, file, f"{name}.__init__")) from error
    return UserAlgorithm(name, loaded, keys, methods, loaded.phases, file, text)


class _LimitReached(BaseException):
    """Exception that ends an algorithm which is still running at the time limit."""

    def __str__(self) -> str:
        return "has not returned when the time limit was reached"


def interrupt(thread: int) -> None:
    """Interrupt the algorithm that runs in a thread, at its next loop iteration or function call.

    A wait such as time.sleep ends only if the program handles the signal SIGURG, as the command
    line does. By default, a program ignores this signal.
    """
    _raise_in(thread, ctypes.py_object(_LimitReached))
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(thread, signal.SIGURG)


def forget_interruption(thread: int) -> None:
    """Cancel an interruption of `thread` if the algorithm returned before it took effect."""
    _raise_in(thread, None)


def _raise_in(thread: int, error: "ctypes.py_object[type[BaseException]] | None") -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


def explain(error: BaseException, file: str, where: str, now_s: float | None = None) -> str:
    """Return the message of an exception, with the line of `file` that raised or caused it.

    `where` is the method or step that failed, and `now_s` the simulated time in seconds, if known.
    """
    line = error.lineno if isinstance(error, SyntaxError) else None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == file:
            line = frame.lineno
    place = file if line is None else f"{file}:{line}"
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    if isinstance(error, _LimitReached):
        what = text
    elif isinstance(error, KeyboardInterrupt):
        what = text or "interrupted"
    else:
        what = f"{type(error).__name__}: {text}" if text else type(error).__name__
        what += _available(error)
    when = "" if now_s is None else f" at {now_s:.9g} s of simulated time"
    return f"{place}: {what} (in {where}{when})"


def _available(error: BaseException) -> str:
    """Return a list of the valid attributes, as text, if an object of the API lacks an attribute.

    The objects are those of longhaul.congestion. The text is empty for all other errors.
    """
    asked = getattr(error, "obj", None)
    if not isinstance(error, AttributeError) or type(asked).__module__ != "longhaul.congestion":
        return ""
    return f"; available: {', '.join(name for name in dir(asked) if not name.startswith('_'))}"


def _executed(file: str, text: str) -> ModuleType:
    """Return a new module, private to a scenario, in which `text` has been executed."""
    digest = hashlib.sha256(f"{file}\n{text}".encode()).hexdigest()[:12]
    module = ModuleType(f"longhaul_algorithm_{digest}")
    module.__file__ = file
    # Registered, since some decorators look up the module of their class.
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, file, "exec"), module.__dict__)
    except (Exception, SystemExit, _LimitReached) as error:
        raise AlgorithmError(explain(error, file, "the file itself")) from error
    return module


def _class_of(module: ModuleType, name: str, file: str) -> Class:
    member = getattr(module, name, None)
    if member is None:
        own = [key for key, value in vars(module).items() if _is_algorithm(value)]
        raise AlgorithmError(f"{file} has no class `{name}`{_known('its algorithms are', own)}")
    if not _is_algorithm(member):
        raise AlgorithmError(f"{file}: {name}: expected a subclass of longhaul.CongestionControl")
    result: Class = member
    return result


def _is_algorithm(value: object) -> bool:
    return (
        isinstance(value, type)
        and issubclass(value, CongestionControl)
        and value is not CongestionControl
    )


def _known(what: str, names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"; {what}: {listed}" if listed else ""


def _unknown(name: str, given: Iterable[str]) -> str:
    return (
        f"no class `{name}` was handed over{_known('there are', given)}; write file and class "
        'as in "my_cc.py:MyCC", or pass the class to longhaul.run in `algorithms`'
    )


def _check_parameters(algorithm: Class, keys: Mapping[str, Any]) -> None:
    """Raise an error that lists the valid keys if the constructor refuses a key or lacks one."""
    signature = inspect.signature(algorithm)
    try:
        signature.bind(**keys)
    except TypeError as error:
        near = [
            f"`{key}` (did you mean `{close[0]}`?)"
            for key in keys
            if key not in signature.parameters
            and (close := difflib.get_close_matches(key, signature.parameters, n=1))
        ]
        wrong = ", ".join(near) or str(error)
        raise AlgorithmError(f"{algorithm.__name__}{signature}: {wrong}") from None


def _written(algorithm: Class) -> tuple[str, str]:
    """Return the file and the source text of a class.

    The text consists of the whole files that define the class and its base classes, except
    CongestionControl and classes of the standard library.
    """
    texts: dict[str, str] = {}
    for class_ in reversed(algorithm.__mro__):
        module = class_.__module__
        is_of_library = module.partition(".")[0] in sys.stdlib_module_names
        if class_ is CongestionControl or (
            is_of_library and not issubclass(class_, CongestionControl)
        ):
            continue
        files = _files(class_)
        for file in files:
            linecache.checkcache(file)
            texts[file] = "".join(linecache.getlines(file, vars(sys.modules[module])))
        if not files or not all(texts[file] for file in files):
            raise AlgorithmError(
                f"the text of {class_.__name__}, which identifies the results, cannot be found; "
                "write the class into a file or, with a method, into a notebook"
            )
    return _files(algorithm)[0], "\n".join(dict.fromkeys(texts.values()))


def _files(class_: type) -> list[str]:
    """Return the files that define a class: that of its module, and those of its own methods.

    The module of a notebook has no file, and only methods tell the cell that defines them.
    """
    of_module = getattr(sys.modules[class_.__module__], "__file__", None)
    functions = (
        inspect.unwrap(value) for value in vars(class_).values() if inspect.isfunction(value)
    )
    found = [of_module, *(function.__code__.co_filename for function in functions)]
    return list(dict.fromkeys(filter(None, found)))
