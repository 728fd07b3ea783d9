"""What `jax.shard_map` requires of results that vary over mesh axes."""

from __future__ import annotations

from shardlint.laws.values import Mesh, Spec, Unknown, entry_axes
from shardlint.laws.verdicts import Accepted, Cause, Rejected, Undecided, Verdict


def judge_varying(mesh: Mesh, varying: frozenset[str], spec: Spec) -> Verdict:
    """Judge a result of a body that runs with ``check_vma=True``, all mesh axes Manual.

    ``out_specs`` must name every axis that the result varies over (`shard_map._check_reps2`, called
    when the body is traced), also those of one device: what varies over an axis that the spec leaves
    out would have to be the same on all its devices. ValueError.
    """
    if any(isinstance(entry, Unknown) for entry in spec.entries):
        return Undecided("the spec is not known")
    named = {axis for entry in spec.entries for axis in entry_axes(entry)}
    missing = [axis for axis in mesh.names if axis in varying - named]
    if not missing:
        return Accepted()
    return Rejected(Cause.VARYING, "ValueError", "trace", axis=missing[0], detail=", ".join(missing))
