"""The jax requirement of a project, as its `pyproject.toml` states it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from shardlint.source.workspace import file_access

if TYPE_CHECKING:
    from shardlint.laws.versions import Target

_REQUIREMENT = re.compile(r"\s*jax\s*(?:\[[^\]]*\])?\s*\(?([^;()@]*)\)?\s*(?:;.*)?", re.IGNORECASE)

#: The version in JAX's own `jax/version.py`, and the most bytes read to find it.
_OWN = re.compile(r'^_version = "([\d.]+)"', re.MULTILINE)
_MOST = 100_000


def jax_requirement(project: Mapping[str, Any]) -> Target | None:
    """Return the JAX releases that a `pyproject.toml` allows, None where it states no bound.

    Dependencies take precedence over optional ones, those over dependency groups and Poetry's; of several
    bounds the first counts.
    """
    for requirement in _requirements(project):
        found = _REQUIREMENT.fullmatch(requirement)
        if found is None or not found[1].strip():
            continue
        from shardlint.laws.versions import TargetError, parse_target

        try:
            return parse_target(found[1])
        except TargetError:
            continue
    return None


def own_release(path: str) -> Target | None:
    """Return the release of JAX whose `jax/version.py` this is, None where it names none that is known."""
    from shardlint.laws.versions import TargetError, parse_target

    try:
        found = _OWN.search(file_access.read(path, _MOST).decode("utf-8", "replace"))
        return None if found is None else parse_target(f"=={found[1]}")
    except (OSError, TargetError):
        return None


def _requirements(project: Mapping[str, Any]) -> Iterator[str]:
    own = _table(project, "project")
    yield from _strings(own.get("dependencies"))
    groups = (_table(own, "optional-dependencies"), _table(project, "dependency-groups"))
    for group in (group for table in groups for group in table.values()):
        yield from _strings(group)
    poetry = _table(_table(project, "tool"), "poetry")
    version = _table(poetry, "dependencies").get("jax")
    if isinstance(version, Mapping):
        version = version.get("version")
    if isinstance(version, str) and version != "*":
        yield f"jax{version if not version[:1].isdigit() else f'=={version}'}"


def _table(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = holder.get(key)
    return found if isinstance(found, Mapping) else {}


def _strings(value: Any) -> Iterator[str]:
    yield from (item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
