"""Rename an axis across the project: exactly the literals that are known to be its name."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from shardlint.api import media
from shardlint.model.spans import Span
from shardlint_server.documents.conversion import Text, to_range
from shardlint_server.documents.texts import text_of, written
from shardlint_server.features.navigation.axes import axis_at, project_axis_at
from shardlint_server.session import ShardlintServer

if TYPE_CHECKING:
    from shardlint.api import Axis

#: The groups of a preview: certain occurrences of the axis, and possible ones, which the user confirms.
_SURE, _UNCLEAR = "axis", "unclear"


def register(server: ShardlintServer) -> None:
    """Register the handlers for renames."""
    server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)(prepare)
    server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(rename)


class Refused(JsonRpcException):
    """A request that is refused; the client shows the reason."""

    CODE = types.LSPErrorCodes.RequestFailed.value
    MESSAGE = "it cannot be renamed"

    def __init__(self, reason: str) -> None:
        super().__init__(media.message(reason))


async def prepare(
    server: ShardlintServer, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    """Return the name without its quotes at an axis's name; nothing can be renamed elsewhere."""
    found = await axis_at(server, params.text_document.uri, params.position)
    if found is None:
        return None
    span, axis = found
    text = text_of(server.workspace, span)
    inner = None if text is None else _inner(text, span, axis)
    if text is None or inner is None:
        return None
    place = to_range(inner, text.lines, server.workspace.position_codec)
    return types.PrepareRenamePlaceholder(range=place, placeholder=axis.name)


async def rename(server: ShardlintServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Return the edits that rename all known occurrences of an axis."""
    found = await project_axis_at(server, params.text_document.uri, params.position, stored=False)
    if found is None:
        raise Refused("no name of an axis stands here")
    _, axis, axes = found
    if (reason := axis.why_not(params.new_name)) is not None:
        raise Refused(reason)
    sure = [(text, place, _SURE) for text, place in _places(server, axis, (o.span for o in axis.occurrences))]
    if not _annotates(server):
        return _edit(server, sure, params.new_name)
    unclear = [(text, place, _UNCLEAR) for text, place in _places(server, axis, axes.unclear(axis))]
    edit = _edit(server, [*sure, *unclear], params.new_name, annotated=True)
    labels = {
        _SURE: types.ChangeAnnotation(
            label=media.plain(f'{axis.kind} "{axis.name}"'), needs_confirmation=False
        ),
        _UNCLEAR: types.ChangeAnnotation(
            label=media.plain(f'"{axis.name}" of no known mesh'),
            needs_confirmation=True,
            description="no mesh is known for these specs: they may mean this axis, or another",
        ),
    }
    used = {_SURE} | ({_UNCLEAR} if unclear else set())
    edit.change_annotations = {name: label for name, label in labels.items() if name in used}
    return edit


def _inner(text: Text, span: Span, axis: Axis) -> Span | None:
    """Return the place of the name in its literal; None where the text has changed."""
    found = axis.inside(written(text, span))
    if found is None:
        return None
    start, end = found
    return dataclasses.replace(span, column=span.column + start, end_column=span.column + end)


def _places(server: ShardlintServer, axis: Axis, spans: Iterable[Span]) -> list[tuple[Text, types.Range]]:
    """Return the places of the name in these literals. Raises Refused if one of them cannot be edited."""
    places = []
    for span in spans:
        text = text_of(server.workspace, span)
        if text is None:
            raise Refused(f'{os.path.basename(span.path)} writes "{axis.name}", too: open it, and try again')
        inner = _inner(text, span, axis)
        if inner is None:
            where = f"{os.path.basename(span.path)}:{span.line}"
            raise Refused(f'"{axis.name}" does not stand in {where} any more: try again')
        places.append((text, to_range(inner, text.lines, server.workspace.position_codec)))
    return places


def _annotates(server: ShardlintServer) -> bool:
    workspace = server.client_capabilities.workspace
    edit = workspace and workspace.workspace_edit
    return bool(edit and edit.document_changes and edit.change_annotation_support)


def _edit(
    server: ShardlintServer,
    places: Iterable[tuple[Text, types.Range, str]],
    name: str,
    annotated: bool = False,
) -> types.WorkspaceEdit:
    """Return edits by document, with the versions they apply to if the client accepts those."""
    by_uri: dict[str, list[types.AnnotatedTextEdit]] = {}
    for text, place, group in places:
        edit = types.AnnotatedTextEdit(annotation_id=group, range=place, new_text=name)
        by_uri.setdefault(text.uri, []).append(edit)
    workspace = server.client_capabilities.workspace
    capable = workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes
    plain = {
        uri: [types.TextEdit(range=edit.range, new_text=edit.new_text) for edit in edits]
        for uri, edits in by_uri.items()
    }
    if not capable:
        return types.WorkspaceEdit(changes=plain)
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                text_document=types.OptionalVersionedTextDocumentIdentifier(
                    uri=uri, version=_version(server, uri)
                ),
                edits=by_uri[uri] if annotated else plain[uri],
            )
            for uri in by_uri
        ]
    )


def _version(server: ShardlintServer, uri: str) -> int | None:
    document = server.workspace.text_documents.get(unquote(uri))
    return None if document is None else document.version
