"""Abstract evaluation of programs; its only product is a list of uses."""

from shardlint.inference.analysis import analyze
from shardlint.inference.project import refresh
from shardlint.inference.settings import InferenceSettings, Noticed

__all__ = ["InferenceSettings", "Noticed", "analyze", "refresh"]
