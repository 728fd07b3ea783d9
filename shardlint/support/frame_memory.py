"""Room for the calls of an evaluation, which nest deep.

A cold check of two large files takes 4.8 s of CPU time with it and 5.9 s without. Use it for the function
that an evaluation starts in, not for one that is called often.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar, cast

F = TypeVar("F", bound=Callable[..., object])
#: The stack size that a function declares, in words: one MiB. As much is left for its callees.
_CLAIMED = 1 << 17


def roomy(function: F) -> F:
    """Let the callees of a function nest deeply without mapping memory for each frame.

    CPython maps memory for frames in chunks of 16 KiB, and unmaps a chunk when its last frame is gone. Where
    calls are made again and again at the end of a chunk, each costs two system calls and some page faults:
    that was a quarter of an evaluation. A chunk is a power of two with room for the first frame in it.
    """
    made = cast(FunctionType, function)
    made.__code__ = made.__code__.replace(co_stacksize=_CLAIMED)
    return function
