"""What CPython makes of a program with probes, and the program that ends in calls of JAX accordingly.

Whether JAX accepts such a call is arithmetic on the value that CPython computes: a size that 4 devices
divide, an axis of the mesh, no more entries than dimensions. `test_oracle.py` asks JAX whether that is right.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import math
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

HEADER = """\
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 4), ("a", "b"))
"""
SECONDS = 2
_PROBE = re.compile(r"""^( *)_probe\((\d+), ['"](\w+)['"], (.*)\)$""", re.M)


class TooLong(BaseException):
    """A program takes more time than it may; no handler of its own catches that."""


@dataclass(frozen=True)
class End:
    """A call of JAX in a program.

    Attributes:
        probe: the number of the probe in whose place it stands.
        way: how it looks at what the probe is given; "dead" if the program does not come there.
        line: where it stands, counted from 1.
        accepted: whether JAX takes it; where it does not, the program ends there.
        size: the size that JAX rejects, or None if it is rejected for something else.
    """

    probe: int
    way: str
    line: int
    accepted: bool
    size: int | None = None


@dataclass(frozen=True)
class Ended:
    """A program with calls of JAX in the places of its probes."""

    text: str
    ends: list[End] = field(default_factory=list)


@contextlib.contextmanager
def _contained() -> Iterator[None]:
    """Limit the time, show no output, and take back what a program changes for all."""
    held = [(space, dict(vars(space))) for space in (builtins, math)]
    environment, streams = dict(os.environ), (sys.stdin, sys.stdout)

    def stop(signum: int, frame: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.stdin, sys.stdout = streams
        for space, names in held:
            space.__dict__.update(names)
            for name in space.__dict__.keys() - names.keys():
                delattr(space, name)
        if os.environ != environment:
            os.environ.clear()
            os.environ.update(environment)


def probed(text: str) -> dict[int, list[Any]] | None:
    """Return the values that each probe of a program meets; None if it raises, or does not end."""
    values: dict[int, list[Any]] = {}

    def probe(number: int, way: str, value: Any) -> None:
        values.setdefault(number, []).append(_frozen(value))

    try:
        with _contained():
            exec(_compiled(text), {"_probe": probe, "__name__": "__main__"})
    except (Exception, SystemExit, TooLong):
        return None
    return values


def _compiled(text: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(text, "program.py", "exec", dont_inherit=True)


def _frozen(value: Any) -> Any:
    """Return a value as it is now: what is plain as its text can be read again, else the value."""
    if type(value) in (list, dict, set, tuple):
        with contextlib.suppress(Exception):
            again = eval(repr(value), {"__builtins__": {"set": set}})
            if again == value and type(again) is type(value):
                return again
        return None
    return value


def ended(text: str) -> Ended | None:
    """Return a program with calls of JAX in the places of its probes; None if CPython does not end it.

    All but the last are accepted: what is rejected ends a program.
    """
    values = probed(text)
    if values is None:
        return None
    found = list(_PROBE.finditer(text))
    last = max((int(match[2]) for match in found if int(match[2]) in values), default=0)
    rejected = last if last % 2 and found and found[-1][2] == str(last) else 0
    calls: list[tuple[int, str, bool, int | None]] = []

    def replaced(match: re.Match[str]) -> str:
        number = int(match[2])
        met = values.get(number, [])
        code, accepted, size = _call(match[3], match[4], met, number == rejected and len(met) == 1)
        calls.append((number, match[3] if met else "dead", accepted, size))
        return f"{match[1]}{code}  # end {number}"

    whole = HEADER + _PROBE.sub(replaced, text)
    lines = [at for at, line in enumerate(whole.split("\n"), 1) if "  # end " in line]
    ends = [
        End(number, way, at, accepted, size)
        for at, (number, way, accepted, size) in zip(lines, calls, strict=True)
    ]
    return Ended(whole, ends)


def _put(shape: str, spec: str) -> str:
    return f"jax.device_put(jnp.zeros({shape}), NamedSharding(mesh, P({spec})))"


def _call(way: str, expression: str, met: list[Any], reject: bool) -> tuple[str, bool, int | None]:
    """Return a call that JAX takes, or rejects, for what an expression is; and the size that it then rejects.

    Where a probe is not reached stands a call that JAX rejects in any case.
    """
    if not met:
        return _put("(8, 4)", '"a", "a"'), True, None
    if any(not _is_plain(value) for value in met):
        return "pass", True, None
    distinct = [value for at, value in enumerate(met) if value not in met[:at]]
    value, text, texts = met[0], _text(met[0]), f"[{', '.join(map(_text, distinct))}]"
    number = int(value) if len(distinct) == 1 and _is_number(value) else None
    if number is not None and way == "size":
        size = 8 + number % 4 * 4 + (1 + number % 3 if reject else 0)
        code = _put(f"({expression} + {size - number}, 4)".replace("+ -", "- "), '"b"')
        return code, not reject, size if reject else None
    if number is not None and way == "rank" and abs(number) < 50:
        most = 3 if reject else 2
        return (
            _put("(8, 4)", f"*[None] * ({expression} + {most - number})".replace("+ -", "- ")),
            not reject,
            None,
        )
    if number is not None and way == "index" and abs(number) < 50:
        names = '("zz", "b", "zz")' if not reject else '("b", "zz", "b")'
        return _put("(8, 4)", f"{names}[{expression} + {1 - number}]".replace("+ -", "- ")), not reject, None
    if len(distinct) == 1 and way == "branch":
        bad = _put("(8, 4)", '"a", "a"')
        return f"if {expression} {'==' if reject else '!='} {text}: {bad}", not reject, None
    if len(distinct) == 1 and isinstance(value, str) and way in ("size", "member"):
        if reject:
            return _put("(8, 4)", f'"z" + {expression}'), False, None
        return _put("(8, 4)", f'{{{text}: "b"}}.get({expression}, "zz")'), True, None
    yes, no = ("6", "8") if reject else ("8", "6")
    if len(distinct) == 1 and way != "member":
        return (
            _put(f"({yes} if {expression} == {text} else {no}, 4)", '"b"'),
            not reject,
            6 if reject else None,
        )
    return (
        _put(f"({yes} if {expression} in {texts} else {no}, 4)", '"b"'),
        not reject,
        6 if reject else None,
    )


def _is_number(value: Any) -> bool:
    return type(value) is int or type(value).__name__ in ("int64", "int32", "uint8")


def _text(value: Any) -> str:
    """The text of a value where numpy may have no name."""
    return repr(int(value) if _is_number(value) else value)


def _is_plain(value: Any) -> bool:
    """Whether a value can stand in a program as its text."""
    return _is_number(value) or type(value) in (str, bool, list, dict, set, tuple)
