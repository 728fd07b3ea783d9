"""A report as one page of HTML."""

from shardlint.report.values import InitReport, ParameterReport


def render(report: ParameterReport | InitReport) -> str:
    return ""
