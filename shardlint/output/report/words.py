"""The words and numbers of a report, for every format."""

from __future__ import annotations

from shardlint.laws.placement.array_bytes import text_of_bytes
from shardlint.report.values import Holding, NamedMesh, Parameter, ParameterReport, TableFinding, Total
from shardlint.rules.messages.common import count_text, shape_text, size_text

NO_MESH = "no mesh is known: give one with --mesh data=2,model=4, or in [tool.shardlint.meshes]"


WITHOUT_FLAX = (
    "Those of Flax modules are found by reading; for any other model, name the function that makes them: "
    "shardlint report --init package.module:function"
)


def mesh_text(named: NamedMesh) -> str:
    """Return a mesh by name, with its axes and devices."""
    return f"{named.name} {named.mesh}: {count_text(_int(named.mesh.device_count), 'device')}"


def shape_of(parameter: Parameter) -> str:
    """Return a shape, ``?`` where it is not known."""
    return "?" if parameter.shape is None else shape_text(parameter.shape)


def name_of(parameter: Parameter) -> str:
    """Return module and path, with the number of equal parameters."""
    name = f"state of {parameter.owner}" if parameter.state else parameter.name
    return name + (f" ×{parameter.count}" if parameter.count > 1 else "")


def names_of(parameter: Parameter) -> str:
    """Return the partitioning as written, if any."""
    return "" if parameter.names is None else parameter.names


def bytes_text(held: Holding | None) -> str:
    """Return the bytes on each device, ``?`` where unknown."""
    return "?" if held is None or held.bytes is None else text_of_bytes(held.bytes)


def copies_text(held: Holding | None) -> str:
    """Return the number of devices with the same part."""
    return "?" if held is None or held.copies is None else size_text(held.copies)


def spec_text(held: Holding | None) -> str:
    """Return the spec on a mesh, ``?`` where it is not known."""
    return "?" if held is None or held.spec is None else str(held.spec)


def remark(parameter: Parameter, held: Holding | None) -> str:
    """Return the problem of a parameter: an impossible sharding, or full replication."""
    parts = []
    if held is not None and held.problem is not None:
        parts.append(held.problem)
    if held is not None and held.large:
        parts.append(f"whole on each device{_saving(parameter, held)}")
    if parameter.alternative:
        parts.append("one of several that the program may make")
    return "; ".join(parts)


def _saving(parameter: Parameter, held: Holding) -> str:
    """Return the effect of the best split over one axis; a named dimension is called by its name."""
    split = held.split
    if split is None or parameter.bytes is None:
        return ""
    left = text_of_bytes(parameter.bytes // split.ways)
    label = parameter.labels[split.dimension] if split.dimension < len(parameter.labels) else ""
    what = f'"{label}"' if label else f"dimension {split.dimension}"
    return f'; {left} if {what} is sharded over "{split.axis}"'


def total_text(total: Total) -> str:
    """Return the sums over a mesh, and the parameters left out of them."""
    size = text_of_bytes(total.device)
    text = f"{size} on each device of {text_of_bytes(total.whole)}, {count_text(total.counted, 'parameter')}"
    text += f"; {left_out(total)}" if total.open else ""
    return text + (f"; besides {text_of_bytes(total.state)} of optimizer state" if total.state else "")


def left_out(total: Total) -> str:
    """Return a text about the parameters that no sum includes."""
    verb = "is" if total.open == 1 else "are"
    return f"{total.open} more, of which not all is known, {verb} left out"


def without_mesh(report: ParameterReport) -> str:
    """Return a text about the sums where no mesh is known."""
    known = [p for p in report.parameters if p.bytes is not None and not p.alternative]
    whole = sum((p.bytes or 0) * p.count for p in known)
    count = sum(p.count for p in known)
    left = sum(p.count for p in report.parameters) - count
    text = f"{text_of_bytes(whole)}, {count_text(count, 'parameter')}"
    return text + (f"; {left_out(Total(0, 0, count, left))}" if left else "")


def finding_text(finding: TableFinding) -> str:
    """Return a finding in one line, with its meshes."""
    where = f" (on {', '.join(finding.meshes)})" if finding.meshes else ""
    return f"{finding.severity.value}: {finding.message}{where} [{finding.label}]"


def _int(size: object) -> int:
    assert isinstance(size, int)
    return size
