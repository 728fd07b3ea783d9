"""Code actions: fixes, alternative fixes, ignore comments, and confirmation by JAX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lsprotocol import types

from shardlint.api import Analysis, Linter, Settings, editing, media
from shardlint.model.findings import Applicability, Edit, Finding, Fix
from shardlint.model.uses import MeshUse
from shardlint.support.lazy_dataclass import dataclass
from shardlint_server.analysis.linting import source_of
from shardlint_server.analysis.worker import Urgency
from shardlint_server.documents.conversion import split_lines, to_range
from shardlint_server.documents.documents import Part, Target
from shardlint_server.documents.edits import difference, takes_snippets, text_edits, workspace_edit
from shardlint_server.features import baseline, confirm_command
from shardlint_server.session import ShardlintServer

FIX_ALL = "source.fixAll.shardlint"
_REWRITE = types.CodeActionKind.RefactorRewrite
_QUICK = types.CodeActionKind.QuickFix
#: The placeholder of the reason: a client that accepts snippets selects it.
_REASON = "say why"


def register(server: ShardlintServer) -> None:
    """Register the handlers for code actions."""
    options = types.CodeActionOptions(code_action_kinds=[_QUICK, _REWRITE, FIX_ALL], resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(code_actions)
    server.feature(types.CODE_ACTION_RESOLVE)(resolve)


@dataclass(frozen=True, slots=True)
class _Request:
    """The input of code actions: a part of a target, its findings, and the client's range."""

    server: ShardlintServer
    target: Target
    part: Part
    analysis: Analysis
    diagnostics: Sequence[types.Diagnostic]
    settings: Settings
    range: types.Range

    def findings(self) -> Iterator[tuple[Finding, types.Diagnostic]]:
        """Yield the findings in the client's range."""
        ours = [f for f in self.analysis.fixable if self.target.part_of(f.span) == self.part]
        for finding, diagnostic in zip(ours, self.diagnostics, strict=True):
            if self.meets(finding.span):
                yield finding, diagnostic

    def meets(self, span: Any) -> bool:
        """Return whether a span of the part overlaps the client's range."""
        codec = self.server.workspace.position_codec
        place = to_range(span, split_lines(self.part.text), codec)
        return place.start <= self.range.end and self.range.start <= place.end

    def of_fix(
        self,
        fix: Fix,
        diagnostic: types.Diagnostic | None = None,
        preferred: bool = False,
        kind: types.CodeActionKind = _QUICK,
        snippets: bool = False,
    ) -> types.CodeAction | None:
        """Return the action for a fix; None where its edits are not all in this target."""
        changes = text_edits(self.target, fix.edits, self.server.workspace.position_codec)
        if changes is None:
            return None
        return types.CodeAction(
            title=media.plain(fix.message[:1].upper() + fix.message[1:]),
            kind=kind,
            diagnostics=[diagnostic] if diagnostic is not None else None,
            is_preferred=True if preferred else None,
            edit=workspace_edit(self.target, changes, self.server.client_capabilities, snippets),
        )


async def code_actions(server: ShardlintServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return the actions for a range of a file or cell, of the requested kinds."""
    uri = params.text_document.uri
    known = await server.analyses.settled(uri)
    if known is None:
        return []
    target, report = known
    part = next((part for part in target.parts if part.uri == uri), None)
    if part is None or report.analysis is None or report.settings is None:
        return []
    diagnostics = report.diagnostics[uri]
    request = _Request(server, target, part, report.analysis, diagnostics, report.settings, params.range)
    only = params.context.only
    wanted = partial(_is_wanted, only)

    def offered() -> tuple[list[types.CodeAction | None], bool]:
        quick = _quick_fixes(request) if wanted(_QUICK) else ()
        found = [*quick, *(_rewrites(request) if wanted(_REWRITE) else ())]
        return found, wanted(FIX_ALL) and any(map(_is_safe, request.analysis.fixable))

    found, fixes_some = await server.worker.submit(lambda: offered, Urgency.TYPED)
    # Actions computed while typing must not be as slow as fixing everything.
    if fixes_some:
        action = types.CodeAction(
            title="Fix all that is safe to fix (shardlint)", kind=FIX_ALL, data={"uri": uri}
        )
        found.append(action if _resolves(server) else await resolve(server, action) if only else None)
    return [action for action in found if action is not None]


def _is_wanted(only: Iterable[str] | None, kind: str) -> bool:
    """Return whether a kind is one of those requested, or nested in one."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") or one == "" for one in only)


def _resolves(server: ShardlintServer) -> bool:
    features = server.client_capabilities.text_document
    action = features and features.code_action
    support = action and action.resolve_support
    return bool(support and "edit" in support.properties and action and action.data_support)


def _is_safe(finding: Finding) -> bool:
    return (
        finding.fix is not None and finding.fix.applicability is Applicability.SAFE and not finding.expected
    )


# -- what is offered ----------------------------------------------------------------------------


def _quick_fixes(request: _Request) -> Iterator[types.CodeAction | None]:
    found = list(request.findings())
    for finding, diagnostic in found:
        if finding.fix is not None:
            yield request.of_fix(_titled(finding.fix, finding), diagnostic, preferred=_is_safe(finding))
    for finding, diagnostic in found:
        cause = finding.cause
        if cause is not None and cause.fix is not None and cause.fix != finding.fix:
            fix = replace(cause.fix, message=f"{cause.fix.message}: repairs {cause.repairs} findings")
            yield request.of_fix(fix, diagnostic)
        for fix in editing.alternatives(request.analysis.source, finding):
            yield request.of_fix(_titled(fix, finding), diagnostic)
        for fix in _of_meshes(request, finding):
            if cause is None or fix != cause.fix:
                yield request.of_fix(_titled(fix, finding), diagnostic)
    for finding, diagnostic in found:
        yield _confirmation(request, finding, diagnostic)
    for finding, diagnostic in found:
        yield _ignored(request, finding, diagnostic)
    for finding, diagnostic in {
        finding.code: (finding, diagnostic) for finding, diagnostic in found
    }.values():
        yield _ignored_everywhere(request, finding, diagnostic)
    for finding, diagnostic in found:
        yield _accepted(request, finding, diagnostic)


def _titled(fix: Fix, finding: Finding) -> Fix:
    return replace(fix, message=f"{fix.message} ({finding.code})")


def _of_meshes(request: _Request, finding: Finding) -> Iterator[Fix]:
    """Yield other axis types for the mesh of a finding about axis types."""
    if not finding.code.startswith("SHL7") and finding.name != "axis-types-left-to-the-default":
        return
    places = {finding.span, *(related.span for related in finding.related)}
    for use in _meshes(request):
        span = use.place.resolve()
        if any(_holds(span, place) for place in places):
            yield from editing.axis_types(request.analysis.source, use, request.settings)


def _meshes(request: _Request) -> Iterator[MeshUse]:
    """Yield the meshes that the text creates, each once."""
    meshes = [use for use in request.analysis.uses if isinstance(use, MeshUse)]
    yield from {use.place.resolve(): use for use in meshes}.values()


def _holds(outer: Any, inner: Any) -> bool:
    same = (outer.path, outer.cell) == (inner.path, inner.cell)
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return same and starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def _rewrites(request: _Request) -> Iterator[types.CodeAction | None]:
    """Yield the refactorings of correct code: a mesh may state its axis types."""
    for use in _meshes(request):
        span = use.place.resolve()
        if request.target.part_of(span) == request.part and request.meets(span):
            for fix in editing.axis_types(request.analysis.source, use, request.settings):
                yield request.of_fix(replace(fix, message=f"add axis_types: {fix.message}"), kind=_REWRITE)


def _confirmation(
    request: _Request, finding: Finding, diagnostic: types.Diagnostic
) -> types.CodeAction | None:
    if not request.server.executes or not editing.is_confirmable(finding):
        return None
    title = f"Confirm on a fake mesh ({finding.code})"
    arguments = confirm_command.arguments_for(request.part.uri, finding)
    command = types.Command(title=title, command=confirm_command.CONFIRM, arguments=[arguments])
    return types.CodeAction(title=title, kind=_QUICK, diagnostics=[diagnostic], command=command)


def _ignored(request: _Request, finding: Finding, diagnostic: types.Diagnostic) -> types.CodeAction | None:
    edits = editing.ignoring(request.analysis.source, finding, _REASON)
    return _with_reason(request, finding, diagnostic, edits, "on this line")


def _ignored_everywhere(
    request: _Request, finding: Finding, diagnostic: types.Diagnostic
) -> types.CodeAction | None:
    edits = editing.ignoring_everywhere(request.analysis.source, finding, _REASON)
    return _with_reason(request, finding, diagnostic, edits, "in this file")


def _with_reason(
    request: _Request, finding: Finding, diagnostic: types.Diagnostic, edits: Sequence[Edit], where: str
) -> types.CodeAction | None:
    """Return the action that ignores a finding by a comment, whose reason is to be written."""
    if finding.expected or not edits:
        return None
    snippets = takes_snippets(request.server.client_capabilities)
    if snippets:
        edits = [replace(edit, text=_as_snippet(edit.text)) for edit in edits]
    fix = Fix(f"ignore {finding.code} {where}, with a reason", Applicability.UNSAFE, tuple(edits))
    return request.of_fix(fix, diagnostic, snippets=snippets)


def _accepted(request: _Request, finding: Finding, diagnostic: types.Diagnostic) -> types.CodeAction | None:
    if not baseline.is_offered(request.server, finding, request.settings):
        return None
    title = f"Add to the baseline ({finding.code})"
    arguments = confirm_command.arguments_for(request.part.uri, finding)
    command = types.Command(title=title, command=baseline.ADD, arguments=[arguments])
    return types.CodeAction(title=title, kind=_QUICK, diagnostics=[diagnostic], command=command)


def _as_snippet(text: str) -> str:
    """Return the text with the reason as a placeholder."""
    for special in ("\\", "$", "}"):
        text = text.replace(special, f"\\{special}")
    return text.replace(_REASON, "${1:why}")


# -- what is computed when it is chosen ---------------------------------------------------------


async def resolve(server: ShardlintServer, action: types.CodeAction) -> types.CodeAction:
    """Compute the edit of an action: all safe fixes, applied until none is left."""
    data = action.data
    if not isinstance(data, dict) or not isinstance(data.get("uri"), str):
        return action
    known = await server.analyses.latest(data["uri"])
    if known is None:
        return action
    target, report = known
    changes: dict[str, list[types.TextEdit]] = {}
    if report.analysis is not None and report.settings is not None:
        work = partial(_fixed, target, report.analysis, report.settings)
        texts = await server.worker.submit(
            lambda: server.in_worker(lambda opened: work(opened)), Urgency.TYPED
        )
        parts = {part.cell: part for part in target.parts}
        codec = server.workspace.position_codec
        changes = {parts[cell].uri: difference(parts[cell], text, codec) for cell, text in texts.items()}
    action.edit = workspace_edit(target, changes, server.client_capabilities)
    return action


def _fixed(
    target: Target, analysis: Analysis, settings: Settings, opened: dict[str, bytes]
) -> dict[int | None, str]:
    with editing.opened(opened):
        return editing.fixed(source_of(target), analysis.fixable, Linter(settings).check_sources)
