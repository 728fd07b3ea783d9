"""Problems with a file itself, as findings: the codes SHL0xx, and SHL9xx for results of its run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shardlint.model.findings import Confirmation, Finding, Group, Related, Severity, with_own_numbers
from shardlint.model.spans import Span
from shardlint.model.uses import UNREACHED, FileProblem
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FileRule:
    """A rule about a file or about shardlint itself; ``kind`` is that of the `FileProblem`s it reports."""

    code: str
    name: str
    summary: str
    kind: str
    docs: str
    severity: Severity = Severity.ERROR
    group: Group = Group.FILES
    preview: bool = False


def _rule(
    code: str, name: str, kind: str, summary: str, why: str, severity: Severity = Severity.ERROR
) -> FileRule:
    return FileRule(code, name, summary, kind, f"# {name} ({code})\n\n{summary}.\n\n{why}\n", severity)


FILE_RULES = (
    _rule(
        "SHL001", "syntax-error", "syntax", "The file or cell is not Python",
        "What can be read of the rest of the file is still checked. Only files that mention sharding are\n"
        "parsed, so the absence of this finding does not say that a file is valid.",
    ),
    _rule(
        "SHL002", "unreadable-file", "unreadable", "The file cannot be read as text",
        "Python reads source as UTF-8 unless a comment in its first two lines names another encoding\n"
        "(PEP 263).",
    ),
    _rule(
        "SHL003", "broken-notebook", "broken-notebook", "The `.ipynb` file is not a notebook",
        "A notebook is JSON with a list of cells (nbformat 3 or 4).",
    ),
    _rule(
        "SHL004", "too-deep", "too-deep", "The file or cell is nested too deeply to be parsed safely",
        "More than 200 nested brackets, which Python itself refuses, or a chain of more than 1,000\n"
        "operators, attributes or `elif`s, would crash the parser. Such text is refused before parsing. The\n"
        "other cells of a notebook are still checked.",
    ),
    _rule(
        "SHL005", "too-large", "too-large", "The file is too large",
        "Python files above 10 MiB and notebooks above 200 MiB are not read.",
    ),
    _rule("SHL006", "missing-path", "missing", "The path does not exist", "Check the spelling of the path."),
    _rule(
        "SHL009", "internal-error", "internal-error", "shardlint failed on this file",
        "This is a bug in shardlint. The other files are still checked. Please report it with the file.",
    ),
    _rule(
        "SHL008", "unresolved", "unresolved",
        "A call could not be judged, because something it depends on is unknown",
        "`check --show-unresolved` notes every call of a sharding API that was not judged whole, and why:\n"
        "what is unknown is never reported as a mistake. `shardlint coverage` counts them.",
        Severity.INFO,
    ),
    _rule(
        "SHL014", "cut-short", "cut-short", "The file was not evaluated to its end",
        "A file may take a million steps of evaluation: calls, statements and turns of loops. No program\n"
        "that we know needs as many; one that is made to take long does. What was found until then is\n"
        "reported, and what says that something is not there (an unused comment, a mesh axis that nothing\n"
        "uses, a rule that matches nothing) is not. Nothing of it is stored.",
        Severity.INFO,
    ),
    _rule(
        "SHL007", "malformed-fact", "malformed-fact", "A shardlint comment that cannot be read or applied",
        "`# shardlint: mesh=v5e-256, x: (batch, t, 4096)` tells what cannot be inferred. This one is not\n"
        "written so, or it names a mesh that `[tool.shardlint.meshes]` lacks, or no variable.",
        Severity.WARNING,
    ),
    _rule(
        "SHL010", "contradicted-fact", "contradicted-fact",
        "A comment states a fact that contradicts the program",
        "Facts in comments fill in what cannot be inferred. What the program itself shows stands: a comment\n"
        "that says otherwise is out of date, or the program is not what was meant.",
        Severity.WARNING,
    ),
    _rule(
        "SHL011", "revealed", "revealed", "The values that a `reveal` comment asks for",
        "`# shardlint: reveal` on a line reports what is known of each array, spec, sharding and mesh that\n"
        "the line names or computes: its type as `jax.typeof` writes it, with the mesh axes that each\n"
        "dimension is sharded over, its bytes, and what a device holds. It does not make a check fail.",
        Severity.INFO,
    ),
    _rule(
        "SHL012", "unused-suppression", "unused-suppression", "An ignore comment that matches no finding",
        "`# shardlint: ignore[SHL202]` whose mistake is repaired would hide the next one. The fix takes out\n"
        "the code, or the comment with its reason where nothing else is left of it. Nothing is said of\n"
        "codes whose rules are not selected, nor where something on the lines could not be judged.",
        Severity.WARNING,
    ),
    _rule(
        "SHL013", "malformed-suppression", "malformed-suppression", "An ignore comment that names no rule",
        "`# shardlint: ignore[SHL202] why` names rules by code, the beginning of one, or name. This one\n"
        "names none that there is, or lacks the brackets and so speaks of every rule.",
        Severity.WARNING,
    ),
    _rule(
        "SHL901", "fixture-disagreement", "fixture", "JAX does not do what a fixture announces",
        "A fixture says in comments what is wrong with it: `# expect: SHL202` where JAX raises, and\n"
        "`# expect-silent: SHL601` where it does not. `check --confirm` and `run` execute it, and report\n"
        "where that is not what happens.",
    ),
    _rule(
        "SHL910", "collective-unreadable", "collective-unreadable",
        "A comment that announces collectives cannot be read",
        "`# expect-collective: all-gather model, all-reduce data <= 8 MiB` names a kind, its mesh axes, and\n"
        "perhaps a bound. The kinds are all-gather, all-reduce, reduce-scatter, all-to-all and\n"
        "collective-permute.",
        Severity.WARNING,
    ),
    _rule(
        "SHL911", "unannounced-collective", "unannounced-collective",
        "The compiler makes a collective that nothing announces",
        "`shardlint compile` runs a fixture and reads what XLA makes of it. A case that announces a\n"
        "collective (`# expect-collective: all-gather model`, on the line that needs it, or on the line of\n"
        "the `def` for the whole function) announces all of its collectives; `# expect-no-collectives` says\n"
        "that there are none. So a change that makes XLA gather a weight in every step is seen.",
        Severity.WARNING,
    ),
    _rule(
        "SHL912", "collective-gone", "collective-gone", "An announced collective is gone",
        "The program has changed, or the compiler: take the comment out, or find out what the line does now.",
        Severity.WARNING,
    ),
    _rule(
        "SHL913", "collective-over-budget", "collective-over-budget",
        "A collective, or all collectives of a program, send more than the budget",
        "`# expect-collective: all-gather model <= 8 MiB` bounds what each device sends each time that this\n"
        "collective runs; `cost.sent` in the configuration what it sends in one run of any program.",
        Severity.WARNING,
    ),
    _rule(
        "SHL914", "weight-gathered-whole", "weight-gathered-whole",
        "A sharded argument is gathered whole on every device",
        "An argument of `max-replicated-bytes` or more is laid out over several devices, and the program\n"
        "gathers all of it on each, so that it takes the memory that sharding it should save. Where the\n"
        "weights of one layer are meant to be gathered, say so: `# expect-collective: all-gather data`.",
        Severity.WARNING,
    ),
    _rule(
        "SHL915", "large-reshard", "large-reshard",
        "A collective that only reshards an array sends more than the budget",
        "Gathers, all-to-alls and permutations compute nothing: two operations want an array in different\n"
        "layouts. `cost.reshard` in the configuration is what each device may send for one of them that\n"
        "nothing announces.",
        Severity.WARNING,
    ),
    _rule(
        "SHL916", "over-device-memory", "over-device-memory",
        "A program needs more memory than a device has",
        "Arguments, results and temporaries together, as XLA assigns buffers, are more than `cost.hbm` in\n"
        "the configuration. The CPU's compiler computes bf16 in f32, so its temporaries are larger than\n"
        "those of other devices.",
        Severity.WARNING,
    ),
)  # fmt: skip

_BY_KIND = {rule.kind: rule for rule in FILE_RULES}


def findings_of(problems: Iterable[FileProblem]) -> list[Finding]:
    """Return problems as findings; several problems at one place become one finding.

    That a check ended before a file is told of the check, not of the file.
    """
    groups: dict[tuple[str, Span], list[FileProblem]] = {}
    for problem in problems:
        if problem.kind == UNREACHED:
            continue
        groups.setdefault((problem.kind, problem.place.resolve()), []).append(problem)
    findings = []
    for same in groups.values():
        messages = dict.fromkeys(problem.message for problem in same)
        findings.append(finding_of(replace(same[0], message="; or ".join(messages))))
    return findings


def finding_of(problem: FileProblem) -> Finding:
    """Return a problem with a file as a finding. There is nothing to run, so none is confirmed."""
    rule = _BY_KIND[problem.kind]
    finding = Finding(
        code=rule.code,
        name=rule.name,
        severity=rule.severity,
        message=problem.message,
        span=problem.place.resolve(),
        related=tuple(Related(fact.place.resolve(), fact.message) for fact in problem.facts),
        confirmation=Confirmation.NOT_RUNNABLE,
    )
    return with_own_numbers(finding)


def fixture_finding(span: Span, message: str) -> Finding:
    """Return a disagreement with a fixture's run as a finding that JAX itself has confirmed."""
    finding = finding_of(FileProblem("fixture", message, span))
    return replace(finding, confirmation=Confirmation.CONFIRMED)


def internal_error(path: str, error: BaseException) -> FileProblem:
    """Return the problem that represents a crash of shardlint on a file."""
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    message = f"shardlint failed on this file ({what}); please report this as a bug, with the file"
    return FileProblem("internal-error", message, Span(path, 1, 1, 1, 1))
