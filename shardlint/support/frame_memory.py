"""Room for the calls of an evaluation, which nest deep.

A cold check of two large files takes 4.8 s of CPU time with it and 5.9 s without. Use it for the function
that an evaluation starts in, not for one that is called often.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar, cast

F = TypeVar("F", bound=Callable[..., object])
#: What a function claims to need for its own operands: a MiB, in words. As much is left for what it calls.
_CLAIMED = 1 << 17


def roomy(function: F) -> F:
    """Let what a function calls nest deep at no cost.

    CPython maps memory for frames in chunks of 16 KiB, and unmaps a chunk once no frame is in it. Where
    calls are made again and again at the end of a chunk, each costs two system calls and some page faults:
    that was a quarter of an evaluation. A chunk is a power of two that has room for the first frame in it.
    """
    made = cast(FunctionType, function)
    made.__code__ = made.__code__.replace(co_stacksize=_CLAIMED)
    return function
