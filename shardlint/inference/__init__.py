"""Abstract evaluation of programs; its only product is a list of uses."""

from typing import TYPE_CHECKING

from shardlint.inference.settings import InferenceSettings, Noticed

if TYPE_CHECKING:
    from shardlint.inference.analysis import analyze
    from shardlint.inference.project import refresh

__all__ = ["InferenceSettings", "Noticed", "analyze", "refresh"]


def __getattr__(name: str) -> object:
    # The evaluator, and libcst with it, is loaded when there is something to evaluate.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shardlint.inference import analysis, project

    globals()[name] = found = getattr(analysis if name == "analyze" else project, name)
    return found
