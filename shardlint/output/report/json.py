"""A report as JSON: one object with everything that the page shows."""

from __future__ import annotations

from typing import Any

from shardlint.laws.core.dims import Dim
from shardlint.report.values import Holding, InitReport, Parameter, ParameterReport, TableFinding
from shardlint.rules.messages.common import size_text
from shardlint.support.media import json_document

Json = dict[str, Any]


def render(report: ParameterReport | InitReport) -> str:
    """Return the report as JSON. A symbolic size is a string, anything else unknown is null."""
    data = _init(report) if isinstance(report, InitReport) else _report(report)
    return json_document(data)


def _report(report: ParameterReport) -> Json:
    names = [named.name for named in report.meshes]
    return {
        "meshes": [
            {
                "name": named.name,
                "axes": dict(zip(named.mesh.names, named.mesh.sizes, strict=True)),
                "devices": named.mesh.device_count,
                "bytes_per_device": total.device,
                "bytes_whole": total.whole,
                "counted": total.counted,
                "left_out": total.open,
                "state_bytes_per_device": total.state,
            }
            for named, total in zip(report.meshes, report.totals, strict=True)
        ],
        "max_replicated_bytes": report.limit,
        "parameters": [_parameter(parameter, names) for parameter in report.parameters],
        "notes": list(report.notes),
    }


def _init(report: InitReport) -> Json:
    return {
        "init": report.init,
        "jax": report.jax,
        **_report(report.report),
        "rules": None
        if report.rules is None
        else [
            {
                "pattern": list(row.rule.pattern)
                if isinstance(row.rule.pattern, tuple)
                else row.rule.pattern,
                "spec": str(row.rule.spec),
                "matches": row.matches,
                "takes": row.takes,
            }
            for row in report.rules
        ],
        "findings": [_finding(finding) for finding in report.findings],
        "failures": list(report.failures),
    }


def _parameter(parameter: Parameter, meshes: list[str]) -> Json:
    span = parameter.span
    return {
        "module": parameter.module or None,
        "path": parameter.path,
        "owner": parameter.owner or None,
        "count": parameter.count,
        "alternative": parameter.alternative,
        "shape": None if parameter.shape is None else [_size(size) for size in parameter.shape],
        "dtype": parameter.dtype,
        "names": parameter.names,
        "bytes": parameter.bytes,
        "rule": None if parameter.rule is None else parameter.rule + 1,
        "on": {
            name: _holding(held)
            for name, held in zip(meshes, parameter.holdings, strict=True)
            if held is not None
        },
        "place": None
        if span is None
        else {
            "path": span.path,
            "line": span.line,
            "column": span.column,
            **({} if span.cell is None else {"cell": span.cell}),
        },
    }


def _holding(held: Holding) -> Json:
    split = held.split
    return {
        "spec": None if held.spec is None else str(held.spec),
        "shard": None if held.shard is None else [_size(size) for size in held.shard],
        "bytes": held.bytes,
        "copies": None if held.copies is None else _size(held.copies),
        "problem": held.problem,
        "whole_and_large": held.large,
        "split": None
        if split is None
        else {"dimension": split.dimension, "axis": split.axis, "ways": split.ways},
    }


def _finding(finding: TableFinding) -> Json:
    return {
        "kind": finding.kind,
        "code": finding.code,
        "severity": finding.severity.value,
        "subject": finding.subject,
        "message": finding.message,
        "meshes": list(finding.meshes),
    }


def _size(size: Dim) -> int | str:
    return size if isinstance(size, int) else size_text(size)
