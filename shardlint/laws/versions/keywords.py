"""Keywords that no known release takes: passing one to a function of JAX raises TypeError in all."""

from __future__ import annotations

from functools import cache

from shardlint.laws.versions.function_keywords import KEYWORDS


@cache
def _keywords() -> dict[str, frozenset[str]]:
    """Return the keywords of each function."""
    return {
        f"{module}.{function}": frozenset(keywords.split())
        for module, records in KEYWORDS.items()
        for functions, _, keywords in (record.partition(":") for record in records.split(";"))
        for function in functions.split()
    }


def functions() -> frozenset[str]:
    """Return the functions whose keywords are known."""
    return frozenset(_keywords())


def is_never_taken(function: str, keyword: str) -> bool:
    """Return whether every known release has a function and refuses a keyword of it."""
    known = _keywords().get(function)
    return known is not None and keyword not in known
