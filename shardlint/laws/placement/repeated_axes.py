"""Meshes with two axes of one name: JAX builds them, and fails where a spec uses the name."""

from __future__ import annotations

from dataclasses import replace

from shardlint.laws.core.check_chain import Case
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.core.verdicts import Api, Cause, Rejected, Undecided
from shardlint.laws.meshes.construction import duplicate_names
from shardlint.laws.placement.checks import found, is_axis, located
from shardlint.laws.versions.era import since

#: APIs that lay an array out, or compute its layout, once a function is traced and lowered.
LAYING_OUT = frozenset(
    {
        Api.SHARD_SHAPE, Api.DEVICE_PUT, Api.DEVICE_PUT_IN_JIT, Api.JIT_IN, Api.JIT_OUT, Api.CONSTRAINT,
        Api.CONSTRAINT_EAGER, Api.SHARD_MAP_IN, Api.CALLBACK, Api.CREATE, Api.ARANGE, Api.CONVERT,
    }
)  # fmt: skip


def judge_repeated(api: Api, case: Case) -> Rejected | Undecided:
    """Judge a spec on a mesh that repeats a name.

    JAX has no dedicated check: `Mesh.shape` has the last of the sizes, `parallel_hlo` counts the dimensions
    (JaxRuntimeError), `shard_map` makes a spec of all names (DuplicateSpecError), Shardy finds the axis
    twice; sometimes the process dies. Where one of the axes has one device, some calls work, and since
    0.11.0 so do some of `shard_map`.
    """
    mesh, unsure = case.mesh, Undecided("the mesh repeats an axis name")
    if not isinstance(mesh, Mesh) or not isinstance(case.spec, Spec):
        return unsure
    if api not in LAYING_OUT or mesh.abstract or (api is Api.SHARD_MAP_IN and since("0.11.0")):
        return unsure
    if isinstance(unknown := found(case), Rejected):
        return replace(unknown, exception="Exception")
    repeated = duplicate_names(mesh.names)
    for dimension, index, part in located(case.spec):
        sizes = [size for name, size in zip(mesh.names, mesh.sizes, strict=True) if name == part]
        if is_axis(part) and part in repeated and all(isinstance(n, int) and n > 1 for n in sizes):
            return Rejected(
                Cause.REPEATED_AXIS, "Exception", "", dimension=dimension, part=index, axis=str(part)
            )
    return unsure
