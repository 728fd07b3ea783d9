"""The jax requirement of a project, as the files beside its code state it."""

from __future__ import annotations

import configparser
import contextlib
import io
import os
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from shardlint.config.errors import ConfigError
from shardlint.config.loading.layers import read_toml
from shardlint.config.loading.logical_axes import parse_yaml
from shardlint.source.workspace import file_access

if TYPE_CHECKING:
    from shardlint.laws.versions import Target

_REQUIREMENT = re.compile(r"\s*jax\s*(?:\[[^\]]*\])?\s*\(?([^;()@]*)\)?\s*(?:;.*)?", re.IGNORECASE)
#: A requirement as a whole literal of `setup.py`.
_LITERAL = re.compile(r"""(["'])(jax\s*(?:\[[^\]"'\n]*\])?\s*[=~<>!][^"'\n]*)\1""", re.IGNORECASE)
#: What a line of `requirements.txt` may have after a requirement: options, a continuation, a comment.
_OPTIONS = re.compile(r"\s+(?:-|#|\\).*|\\$")
#: conda's ``channel::name=version=build``.
_CONDA = re.compile(r"(?:[\w.-]+::)?(jax)\s*=\s*([\d.]+)[^=]*(?:=.*)?")

#: The version in JAX's own `jax/version.py`, and the most bytes read of it and of lists of requirements.
_OWN = re.compile(r'^_version = "([\d.]+)"', re.MULTILINE)
_MOST = 100_000


def requirement_in(folder: str) -> tuple[Target, str] | None:
    """Return the releases of JAX that a folder's files allow, and the file; None if none states a bound.

    `pyproject.toml` takes precedence over `setup.cfg`, `setup.py`, `requirements.txt` and conda's
    `environment.yml`. The repository of JAX itself is of its own release. Errors in these files are not
    reported: other tools do that.
    """
    for name, requirements in _STATED.items():
        file = os.path.join(folder, name)
        if file_access.is_file(file):
            with contextlib.suppress(ConfigError, OSError, configparser.Error):
                if (target := _first_bound(requirements(file))) is not None:
                    return target, file
    return None


def _first_bound(requirements: Iterable[str]) -> Target | None:
    """Return the releases that the first requirement of jax with a bound allows."""
    for requirement in requirements:
        found = _REQUIREMENT.fullmatch(requirement)
        if found is None or not found[1].strip():
            continue
        from shardlint.laws.versions import TargetError, parse_target

        with contextlib.suppress(TargetError):
            return parse_target(found[1])
    return None


def _text(path: str) -> str:
    return file_access.read(path, _MOST).decode("utf-8", "replace")


def _of_pyproject(file: str) -> Iterator[str]:
    """Yield the dependencies, optional ones, dependency groups, Poetry's, and those in setuptools' files."""
    project = read_toml(file)[1]
    own = _table(project, "project")
    yield from _strings(own.get("dependencies"))
    groups = (_table(own, "optional-dependencies"), _table(project, "dependency-groups"))
    for group in (group for table in groups for group in table.values()):
        yield from _strings(group)
    tools = _table(project, "tool")
    wanted = _table(_table(tools, "poetry"), "dependencies").get("jax")
    if isinstance(wanted, Mapping):
        wanted = wanted.get("version")
    if isinstance(wanted, str) and wanted != "*":
        yield f"jax{wanted if not wanted[:1].isdigit() else f'=={wanted}'}"
    version = os.path.join(os.path.dirname(file), "jax", "version.py")
    if file_access.is_file(version) and (release := _OWN.search(_text(version))) is not None:
        yield f"jax=={release[1]}"
    dynamic = _table(_table(_table(tools, "setuptools"), "dynamic"), "dependencies").get("file")
    for name in [dynamic] if isinstance(dynamic, str) else _strings(dynamic):
        listed = os.path.join(os.path.dirname(file), name)
        if file_access.is_file(listed):
            yield from _of_requirements(listed)


def _of_setup_cfg(file: str) -> Iterator[str]:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(_text(file))
    yield from parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        for _, extra in parser.items("options.extras_require"):
            yield from extra.splitlines()


def _of_setup_py(file: str) -> Iterator[str]:
    """Yield the literals that are requirements of jax: the file is not run. Comments and docstrings, which
    may have examples, are other tokens."""
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(_text(file)).readline):
            if token.type == tokenize.STRING and (found := _LITERAL.fullmatch(token.string)) is not None:
                yield found[2]


def _of_requirements(file: str) -> Iterator[str]:
    return (_OPTIONS.sub("", line) for line in _text(file).splitlines())


def _of_environment(file: str) -> Iterator[str]:
    """Yield the requirements of conda's environment, and those that it leaves to pip."""
    from yaml import YAMLError

    try:
        environment = parse_yaml(file_access.read(file, _MOST))
    except (YAMLError, ValueError, RecursionError):
        return
    listed = environment.get("dependencies") if isinstance(environment, dict) else None
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, str):
            yield _CONDA.sub(r"\1==\2", one)
        elif isinstance(one, dict):
            yield from (_OPTIONS.sub("", line) for line in _strings(one.get("pip")))


#: The files that state requirements, in order of precedence, and what reads them.
_STATED: Mapping[str, Callable[[str], Iterator[str]]] = {
    "pyproject.toml": _of_pyproject,
    "setup.cfg": _of_setup_cfg,
    "setup.py": _of_setup_py,
    "requirements.txt": _of_requirements,
    "environment.yml": _of_environment,
    "environment.yaml": _of_environment,
}


def _table(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = holder.get(key)
    return found if isinstance(found, Mapping) else {}


def _strings(value: Any) -> Iterator[str]:
    yield from (item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
