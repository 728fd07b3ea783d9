"""Abstract evaluation of programs; its only product is a list of uses.

Enter by `analyze`. A program is run with abstract values instead of real ones: shapes, dtypes, meshes and
specs are tracked, an unknown value is `Unknown`, and overlays evaluate calls of libraries. Where JAX would
check something, a law is applied, and its verdict is recorded as a use.

From the bottom: `store` and `domain` (values), `evaluation` (calls and the evaluator's interface, as overlays
see them), `overlays` (libraries), `syntax` (texts as trees), `machine` (the machine as handlers see it),
`semantics` (Python's operations on any value), `conditions`, `facts` and `recording`, `summaries` (memoised
calls), `interpreter` (statements and expressions), `incremental` and `programs` (projects, entry points,
edits). A package imports only packages below it; see docs/architecture.md.
"""

from typing import TYPE_CHECKING

from shardlint.inference.evaluation.settings import InferenceSettings, Noticed

if TYPE_CHECKING:
    from shardlint.inference.programs.module_loader import refresh
    from shardlint.inference.programs.program import analyze

__all__ = ["InferenceSettings", "Noticed", "analyze", "refresh"]


def __getattr__(name: str) -> object:
    # The evaluator, and libcst with it, is loaded when there is something to evaluate.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shardlint.inference.programs import module_loader, program

    globals()[name] = found = getattr(program if name == "analyze" else module_loader, name)
    return found
