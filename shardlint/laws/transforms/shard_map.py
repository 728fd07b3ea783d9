"""`jax.shard_map`'s requirements on a call, apart from the placement of its arrays."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from shardlint.laws.core.array_types import TypeSharding
from shardlint.laws.core.check_chain import Case, judge, raising, staged
from shardlint.laws.core.dims import Shape
from shardlint.laws.core.values import AxisType, Entry, Junk, Mesh, Spec, Unknown, entry_axes
from shardlint.laws.core.verdicts import Accepted, Api, Cause, Rejected, Undecided, Verdict
from shardlint.laws.placement.axis_types import all_of, array_type, in_type, only_auto, only_explicit
from shardlint.laws.placement.checks import SHARDING, a_leaf, a_spec, located, rank, unconstrained
from shardlint.laws.placement.partition_spec import canonical
from shardlint.laws.versions.era import since
from shardlint.support.lazy_dataclass import dataclass

#: The stages of a call: the function is wrapped, and later called with arrays.
WRAPPED, CALLED = "shard_map()", "trace"


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function: the number of positional ones, and the names of keyword-only ones.

    ``positional`` parameters may also be passed by keyword, unless ``positional_only``.
    """

    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    required: frozenset[str]
    positional_only: bool = False


SIGNATURES = {
    "jax.shard_map": Signature(
        ("f",), ("out_specs", "in_specs", "mesh", "axis_names", "check_vma"), frozenset({"out_specs"}), True
    ),
    "jax.smap": Signature(
        ("f",), ("in_axes", "out_axes", "axis_name"), frozenset({"out_axes", "axis_name"}), True
    ),
    "jax.experimental.shard_map.shard_map": Signature(
        ("f", "mesh", "in_specs", "out_specs", "check_rep"),
        (),
        frozenset({"f", "mesh", "in_specs", "out_specs"}),
    ),
}

#: Parameters of other releases, and their replacements.
_RENAMED = {
    "auto": "`axis_names=` names the axes that the function is manual over, instead",
    "check_rep": "it is `check_vma=` now",
    "check_vma": "it is `check_rep=` here",
    "axis_names": "jax.shard_map does",
}


def judge_signature(function: str, positional: int, keywords: Collection[str]) -> Verdict:
    """Judge the number of positional arguments and the keywords of a call. TypeError."""
    signature = SIGNATURES[function]
    name = function.rpartition(".")[2]
    names = signature.positional
    if positional > len(names):
        only = "the function" if len(names) == 1 else ", ".join(names)
        others = ", ".join(f"{key}=" for key in signature.keywords) or "no more"
        return _misuse(f"{name} takes only {only} by position, and {others} by keyword")
    for key in keywords:
        if key in names and signature.positional_only:
            return _misuse(f"{name} takes `{key}` by position, not by keyword")
        if key in names[:positional]:
            return _misuse(f"{name} is given `{key}` twice")
        if key not in (*names, *signature.keywords):
            renamed = f"; {_RENAMED[key]}" if key in _RENAMED else ""
            return _misuse(f"{name} takes no `{key}=`{renamed}")
    missing = [key for key in (*names, *signature.keywords) if key in signature.required]
    missing = [key for key in missing if key not in (*names[:positional], *keywords)]
    if missing:
        return _misuse(f"{name} needs {', '.join(f'{key}=' for key in missing)}")
    return Accepted()


def _misuse(detail: str, exception: str = "TypeError", stage: str = WRAPPED) -> Rejected:
    return Rejected(Cause.MISUSE, exception, stage, detail=detail)


def not_callable(text: str) -> Rejected:
    """Return the rejection of a mapped object that is not callable (`shard_map._shard_map`).

    None makes a decorator.
    """
    return _misuse(f"shard_map maps a function, not {text}")


def takes_no_keywords(function: str, keywords: Collection[str]) -> Verdict:
    """Judge the keywords of a call of the mapped function: it takes arguments by position only."""
    if not keywords:
        return Accepted()
    given = ", ".join(f"`{key}=`" for key in keywords)
    return _misuse(f"what shard_map returns takes no keywords, but {function} is given {given}", stage=CALLED)


def judge_mesh(given: Mesh | Junk | Unknown | None, context: Mesh | Unknown | None) -> Verdict:
    """Judge ``mesh=`` beside the mesh of `jax.set_mesh` or of an enclosing shard_map (`_shmap_checks`).

    Where both are there they must be one, in their axis types too. Without either the specs have no mesh,
    which is judged where they meet arrays.
    """
    if isinstance(given, Junk):
        if given.type in ("Mesh", "AbstractMesh"):
            return Undecided("a mesh that is not known")
        exception = "TypeError" if context is None else "AttributeError"
        return _misuse(
            f"mesh= must be a Mesh, not {given.text}",
            "Exception" if isinstance(context, Unknown) else exception,
            CALLED,
        )
    if isinstance(given, Unknown) or isinstance(context, Unknown):
        return Undecided("a mesh is not known")
    if given is None or context is None:
        return Accepted()
    if (given.names, given.types) != (context.names, context.types):
        differ = "types" if given.names == context.names else "axes"
    elif any(_differ(a, b) for a, b in zip(given.sizes, context.sizes, strict=True)):
        differ = "sizes"
    else:
        same = given.sizes == context.sizes and given.abstract == context.abstract
        return Accepted() if same else Undecided("whether both meshes are one is not known")
    manual = [
        name for name, kind in zip(context.names, context.types, strict=True) if kind is AxisType.MANUAL
    ]
    if differ == "types" and manual and AxisType.MANUAL not in given.types:
        inside = ", ".join(f'"{name}"' for name in manual)
        detail = f"inside a shard_map over {inside} the mesh has these axes Manual; leave mesh= out"
    else:
        here, there = _shown(given, differ), _shown(context, differ)
        detail = f"mesh= has the {differ} {here}, and the mesh in context {there}"
    return Rejected(Cause.OTHER_MESH, "ValueError", CALLED, detail=detail)


def _differ(a: object, b: object) -> bool:
    return isinstance(a, int) and isinstance(b, int) and a != b


def _shown(mesh: Mesh, what: str) -> str:
    if what != "types":
        return str(mesh)
    return "(" + ", ".join(f"{n}: {t}" for n, t in zip(mesh.names, mesh.types, strict=True)) + ")"


def no_mesh() -> Rejected:
    """Return the rejection of a call without any mesh, whose specs are not matched with arrays first."""
    detail = "there is no mesh: pass mesh=, or call it under jax.set_mesh"
    return Rejected(Cause.NO_MESH, "ValueError", CALLED, detail=detail)


def judge_axis_names(mesh: Mesh | Unknown | None, names: frozenset[object] | Junk | Unknown) -> Verdict:
    """Judge ``axis_names=``: a set of axes of the mesh (`_shmap_checks`)."""
    if mesh is None:
        return Undecided("there is no mesh, which is met first")
    if isinstance(names, Junk):
        return _misuse(f"axis_names= must be a set, not {names.text}", stage=CALLED)
    if isinstance(names, Unknown) or not isinstance(mesh, Mesh):
        return Undecided("axis_names or the mesh is not known")
    strange = sorted(str(name) for name in names if name not in mesh.names)
    if strange:
        shown = ", ".join(f'"{name}"' for name in strange)
        detail = f"axis_names= holds {shown}, which the mesh {mesh} does not have"
        return replace(_misuse(detail, "ValueError", CALLED), axis=strange[0])
    return Accepted()


def judge_inferred(mesh: Mesh, manual: Collection[str]) -> Verdict:
    """Judge a call without ``in_specs``: they come from the arguments' types, where all axes are Explicit."""
    others = [name for name in mesh.names if name in manual and mesh.type_of(name) is not AxisType.EXPLICIT]
    if not others:
        return Accepted()
    shown = ", ".join(f'"{name}" ({mesh.type_of(name)})' for name in others)
    return _misuse(
        f"in_specs= may be left out only where all axes are Explicit, unlike {shown}", stage=CALLED
    )


def newly_manual(mesh: Mesh, names: frozenset[str]) -> frozenset[str]:
    """Return the axes over which a shard_map makes its function manual: those of ``axis_names=``, or all.

    Since 0.12.0 those that are Manual already around it are not among them (`_shmap_checks`).
    """
    axes = names or frozenset(mesh.names)
    around = frozenset(name for name in mesh.names if mesh.type_of(name) is AxisType.MANUAL)
    return axes - around if since("0.12.0") else axes


def judge_manual(parameter: str, spec: Spec, mesh: Mesh, manual: Collection[str]) -> Verdict:
    """Judge a spec of a shard_map that is manual over some axes: it may name no others (`_check_specs`)."""
    for dimension, part, name in located(spec):
        if isinstance(name, str) and name in mesh.names and name not in manual:
            kept = ", ".join(f'"{axis}"' for axis in mesh.names if axis in manual) or "no axis"
            detail = f'{parameter} name "{name}", but axis_names= makes only {kept} Manual'
            if mesh.type_of(name) is AxisType.MANUAL:
                detail = f'{parameter} name "{name}", which is Manual already around this shard_map'
            found = _misuse(detail, "ValueError", CALLED)
            return replace(found, dimension=dimension, part=part, axis=name)
    return Accepted()


def judge_eager(mesh: Mesh, manual: Collection[str], checked: bool | None, in_jit: bool | None) -> Verdict:
    """Judge a call outside jit (`shard_map._unmatch`, ValueError).

    Without checks, shard_map splits the arguments over all axes, and then rejects those that are not Manual.
    """
    others = [name for name in mesh.names if name not in manual]
    if not others or checked is not False or in_jit is not False:
        return Accepted()
    shown = ", ".join(f'"{name}"' for name in others)
    detail = f"outside jit check_vma=False needs all axes Manual, and {shown} stay as they are; use jax.jit"
    return _misuse(detail, "ValueError", "execute")


def judging_mesh(mesh: Mesh, manual: Collection[str]) -> Mesh:
    """Return the mesh on which the specs of a shard_map are judged: its Manual axes.

    The types of arguments are compared with their specs where all these axes are Explicit, before 0.12.0 only
    where all of the mesh's are among them (`shard_map._shard_map`); elsewhere Explicit axes do not matter.
    """
    if all_of(AxisType.EXPLICIT, mesh) and set(manual) == set(mesh.names):
        return mesh
    kept = [(n, s) for n, s in zip(mesh.names, mesh.sizes, strict=True) if n in manual]
    compared = all(mesh.type_of(name) is AxisType.EXPLICIT for name, _ in kept) and since("0.12.0")
    kind = AxisType.EXPLICIT if compared else AxisType.AUTO
    return Mesh(tuple(n for n, _ in kept), tuple(s for _, s in kept), (kind,) * len(kept), mesh.abstract)


def inferred_spec(mesh: Mesh, manual: Collection[str], held: Spec) -> Spec | None:
    """Return the in_spec that follows from an argument's type (`_manual_spec`): its axes that become Manual.

    None where a dimension is sharded over an axis that does not, and then over one that does: JAX rejects
    these.
    """
    entries: list[Entry] = []
    for entry in held.entries:
        axes = entry_axes(entry)
        kept = tuple(axis for axis in axes if axis in manual)
        if isinstance(entry, Unknown) or kept != axes[: len(kept)]:
            return None
        entries.append(canonical(kept))
    return replace(held, entries=tuple(entries))


def local_type(inside: Mesh, held: TypeSharding | None, rank: int) -> TypeSharding | None:
    """Return the sharding in the type of a shard (`_shard_shaped_array`): the axes that stay Explicit inside.

    ``held`` is that of the whole array, None where it is not known.
    """
    inside = replace(inside, abstract=True)
    if AxisType.EXPLICIT not in inside.types:
        return TypeSharding(inside, Spec((None,) * rank))
    if held is None:
        return None
    return TypeSharding(inside, Spec(_in_types(inside, held.spec, rank)))


def whole_type(outside: Mesh, spec: Spec, held: TypeSharding | None, rank: int) -> TypeSharding | None:
    """Return the sharding in the type of a result (`_unshard_shaped_array`).

    Each dimension has the axes of its out_spec, then those of the shard; the result is unreduced and reduced
    over the axes that the out_spec states.
    """
    if held is None and AxisType.EXPLICIT in outside.types:
        return None
    if held is not None and (held.mesh is None or AxisType.MANUAL not in held.mesh.types):
        # An array on another mesh inside is not a shard by its type.
        return None
    outside = replace(outside, abstract=True)
    shard = held.spec.entries if held is not None else ()
    padded = (*shard, *(None,) * (rank - len(shard)))
    named = (*spec.entries, *(None,) * (rank - len(spec)))
    joined = tuple(canonical((*entry_axes(a), *entry_axes(b))) for a, b in zip(named, padded, strict=False))
    explicit = {axis for axis in outside.names if outside.type_of(axis) is AxisType.EXPLICIT}
    entries = _in_types(outside, Spec(joined), rank)
    return TypeSharding(outside, Spec(entries, spec.unreduced & explicit, spec.reduced & explicit))


def _in_types(mesh: Mesh, spec: Spec, rank: int) -> tuple[Entry, ...]:
    entries = tuple(in_type(mesh, entry) for entry in spec.entries[:rank])
    return entries + (None,) * (rank - len(entries))


def judge_returned(inside: Mesh, held: TypeSharding | None, spec: Spec) -> Verdict:
    """Judge a result that came from outside the body unchanged, under ``check_vma=True``.

    It is cast to vary over the axes that its out_spec names, which is impossible for an outside array on
    Explicit axes (`core.Primitive.bind`): NotImplementedError. ``held`` is the sharding in its type.
    """
    mesh = held.mesh if held is not None else None
    foreign = mesh is not None and AxisType.MANUAL not in mesh.types and AxisType.EXPLICIT in mesh.types
    if not foreign or AxisType.EXPLICIT in inside.types or not any(map(entry_axes, spec.entries)):
        return Accepted()
    detail = "an array on Explicit axes cannot be closed over, as None in in_specs does; give it its spec"
    return _misuse(detail, "NotImplementedError", CALLED)


def judge_unreduced(varying: frozenset[str], spec: Spec) -> Verdict:
    """Judge a result that certainly varies over axes, under ``check_vma=True``.

    Since 0.11.0 it is not cast to be unreduced over an axis as its out_spec says
    (`shard_map._check_unreduced_and_reduced`): ValueError.
    """
    axis = min(varying & spec.unreduced, default=None)
    if axis is None or not since("0.11.0"):
        return Accepted()
    cast = f'jax.lax.pcast(x, "{axis}", to="unreduced")'
    detail = f'a result that varies over "{axis}" is not unreduced over it, as its spec says: return {cast}'
    return replace(_misuse(detail, "ValueError", CALLED), axis=axis)


def judge_inside(
    api: Api,
    mesh: Mesh | Unknown | None,
    spec: Spec | Junk | Unknown | None,
    shape: Shape | Unknown,
    *,
    raw: bool,
    varying: frozenset[str],
    manual: frozenset[str] = frozenset(),
    outer: Mesh | Unknown | None = Unknown("not told"),
) -> Verdict:
    """Judge a spec or sharding applied to an array in a body; as `judge.judge_placement`.

    ``varying`` are the Manual axes that the array varies over in its type. A bare spec of a constraint or of
    reshard belongs to the mesh of the body, one of device_put to ``outer``, the mesh of `jax.set_mesh` around
    the shard_map. A sharding has its own mesh: if these axes are not Manual there, the array has no type
    (`core.ShapedArray`, ValueError), whatever the spec. Where types do not tell, as without the check, a
    spec that names one of the body's ``manual`` axes is refused when the program is lowered.
    """
    if api is Api.DEVICE_PUT_IN_JIT and raw and isinstance(spec, Spec) and outer is None:
        return Rejected(Cause.NO_MESH, "ValueError", CALLED)
    if api is Api.CONSTRAINT and raw and isinstance(spec, Spec) and not since("0.8.0"):
        # The mesh of the body is not looked at.
        no_context = Rejected(Cause.NO_MESH, "RuntimeError", CALLED)
        return no_context if outer is None else Undecided("whether there is a mesh around is not known")
    if api is Api.RESHARD_IN_JIT and not raw and isinstance(spec, Spec) and not since("0.7.0"):
        return Rejected(Cause.AXIS_TYPE, "ValueError", CALLED, detail="a sharding of the mesh outside")
    law = _INSIDE.get((api, raw))
    if law is None:
        return Undecided("inside shard_map")
    verdict = judge(law, Case(mesh, spec, shape))
    if isinstance(verdict, Rejected) or raw or not isinstance(mesh, Mesh):
        return verdict if isinstance(verdict, Rejected) else Undecided("inside shard_map")
    others = [axis for axis in mesh.names if axis in varying and mesh.type_of(axis) is not AxisType.MANUAL]
    if not others and api is Api.CONSTRAINT and isinstance(spec, Spec) and since("0.10.2"):
        named = {axis for entry in spec.entries for axis in entry_axes(entry)}
        moving = [a for a in mesh.names if a in named & manual and mesh.type_of(a) is AxisType.AUTO]
        if moving:
            detail = f'inside shard_map "{moving[0]}" is Manual, and no constraint may name it'
            return Rejected(Cause.AXIS_TYPE, "ValueError", "lower", axis=moving[0], detail=detail)
    if not others or not since(_LOOKS_AT_MESH[api]):
        return Undecided("inside shard_map")
    detail = (
        f'inside shard_map "{others[0]}" is Manual, and the array varies over it; '
        "a bare spec names the axes that stay as they are"
    )
    return Rejected(Cause.AXIS_TYPE, "ValueError", CALLED, detail=detail)


#: Since when a sharding whose mesh has no Manual axes is refused in a body.
_LOOKS_AT_MESH = {Api.CONSTRAINT: "0.8.3", Api.RESHARD_IN_JIT: "0.7.2", Api.DEVICE_PUT_IN_JIT: "0.7.2"}
#: The checks in a body of a bare spec, or of a well-formed sharding.
_INSIDE = {
    (Api.CONSTRAINT, True): raising("TypeError", CALLED, a_spec)
    + staged(CALLED, *SHARDING)
    + raising("ValueError", CALLED, rank, only_auto),
    (Api.RESHARD_IN_JIT, True): staged(CALLED, a_leaf, *SHARDING, only_explicit) + array_type(CALLED),
    (Api.CONSTRAINT, False): raising("ValueError", CALLED, rank, only_auto),
    (Api.RESHARD_IN_JIT, False): staged(CALLED, only_explicit) + array_type(CALLED),
    (Api.DEVICE_PUT_IN_JIT, False): raising("KeyError", CALLED, unconstrained)
    + array_type(CALLED)
    + raising("ValueError", CALLED, rank),
}


def judge_smap(axis_name: object, in_axes: object, out_axes: object) -> Verdict:
    """Judge the arguments of `jax.smap` as plain values, in which Unknown may be anything. TypeError.

    Omitted ``in_axes`` are Unknown.
    """
    if isinstance(axis_name, (list, tuple)):
        return _misuse(f"axis_name= of smap is one name, not {axis_name!r}")
    if not isinstance(in_axes, (int, tuple, Unknown, type(None))):
        return _misuse(f"in_axes= of smap must be an integer, None or a tuple of them, not {_text(in_axes)}")
    for parameter, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        wrong = next((leaf for leaf in _leaves(axes) if not isinstance(leaf, (int, Unknown))), None)
        if wrong is not None:
            return _misuse(f"{parameter}= of smap hold integers or None, not {_text(wrong)}")
    return Accepted()


def _leaves(tree: object) -> list[object]:
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in _leaves(item)]
    return [] if tree is None else [tree]


def _text(value: object) -> str:
    return value.text if isinstance(value, Junk) else repr(value)


def impossible(function: str, problem: str, operand: str, local: str, whole: str | None) -> Rejected:
    """Return the rejection of an operation in a body, whose operand has a shard's shape there.

    The exception is the operation's own, and its class is not stated: most raise TypeError.
    """
    of = "" if whole is None or whole == local else f", of an array of shape {whole}"
    detail = f"{function} fails in the body: {problem}; {operand} is one shard there, of shape {local}{of}"
    return Rejected(Cause.LOCAL_SHAPE, "Exception", CALLED, detail=detail)
