"""*Run this fixture* above a fixture, and JAX's outcome above each of its parts; *Show what this compiles to*
above its jitted functions and cases."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from shardlint.api import compiling, media
from shardlint_server.documents.documents import Part, Target
from shardlint_server.features.confirm_command import refused
from shardlint_server.features.fixture_commands import COMPILE, RUN, is_fixture, summary, texts_of
from shardlint_server.session import ShardlintServer


def register(server: ShardlintServer) -> None:
    """Register the lenses."""
    server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions())(code_lenses)


async def code_lenses(server: ShardlintServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Return the lenses of a file or cell; none unless the workspace's code may be run."""
    uri = params.text_document.uri
    if refused(server, of_workspace=True) is not None:
        return []
    known = await server.analyses.settled(uri)
    if known is None or not is_fixture(*known):
        return []
    target, _ = known
    part = next((part for part in target.parts if part.uri == uri), None)
    return [] if part is None else [*_outcomes(server, target, part), *_compiled(server, target, part)]


def _outcomes(server: ShardlintServer, target: Target, part: Part) -> Iterator[types.CodeLens]:
    ran = server.fixture_runs.result(target)
    if part == target.parts[0]:
        title = "Run this fixture on a fake mesh" if ran is None else f"{summary(ran)} Run again"
        yield _lens(1, title, types.Command(title=title, command=RUN, arguments=[{"uri": target.uri}]))
    if ran is not None:
        for verdict in ran.verdicts:
            if verdict.cell == part.cell:
                title = f"JAX {ran.jax}: {verdict.said}" if ran.jax else verdict.said
                yield _lens(verdict.line, title, types.Command(title=title, command=""))


def _compiled(server: ShardlintServer, target: Target, part: Part) -> Iterator[types.CodeLens]:
    """Yield a lens for each function; it says what the function compiled to, until the text changes."""
    compiled = server.compilations.last(target)
    stale = compiled is not None and compiled.is_stale(texts_of(target))
    for name, line in compiling.compiled_functions(part.text):
        said = None if compiled is None or stale else compiled.said_of(name, part.cell, line)
        again = " (edited since)" if stale else ""
        title = f"Show what this compiles to{again}" if said is None else f"{said}. Compile again"
        yield _lens(line, title, types.Command(title=title, command=COMPILE, arguments=[{"uri": target.uri}]))


def _lens(line: int, title: str, command: types.Command) -> types.CodeLens:
    place = types.Position(line=line - 1, character=0)
    command.title = media.plain(command.title)
    return types.CodeLens(range=types.Range(place, place), command=command)
