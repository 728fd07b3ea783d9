"""The contents of a report, as frozen values: parameters, each device's share of them, totals."""

from __future__ import annotations

from collections.abc import Mapping

from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.core.verdicts import Cause
from shardlint.laws.flax.path_rules import PathRule
from shardlint.laws.placement.array_bytes import Split
from shardlint.model.findings import Severity
from shardlint.model.spans import Span
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class NamedMesh:
    """A mesh and its name in the configuration, on the command line, or in the program."""

    name: str
    mesh: Mesh


@dataclass(frozen=True, slots=True)
class Holding:
    """Each device's share of a parameter on a mesh.

    ``spec`` is the result of its names or the rules, None where that is not known; ``shard`` is the shape of
    a device's part; ``bytes`` its size, None where something is not known; ``copies`` is the number of
    devices with the same part. ``problem`` states why this sharding is impossible, or why it is not known.
    ``large`` marks a parameter that is replicated on every device and exceeds the configured limit; ``split``
    is then the best remedy.
    """

    spec: Spec | None = None
    shard: Shape | None = None
    bytes: int | None = None
    copies: Dim | None = None
    problem: str | None = None
    large: bool = False
    split: Split | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter, or ``count`` equal ones.

    ``module`` is the class that declares it, ``path`` its path in the module or in the result of init,
    ``owner`` the layer (``nn.Dense``; empty where init created it). ``names`` is the partitioning as written,
    ``labels`` the name of each dimension in it; ``bytes`` are those of one whole array. ``rule`` is the index
    of the matching rule. ``alternative`` is true if the program may create another one in its place.
    ``state`` is true for what an optimizer keeps of parameters; it is in no sum of parameters. ``holdings``
    has one entry for each mesh of the report: None where the parameter is not used on that mesh.
    """

    path: str
    shape: Shape | None
    dtype: str | None
    bytes: int | None
    holdings: tuple[Holding | None, ...]
    module: str = ""
    owner: str = ""
    names: str | None = None
    labels: tuple[str, ...] = ()
    span: Span | None = None
    count: int = 1
    rule: int | None = None
    alternative: bool = False
    state: bool = False

    @property
    def name(self) -> str:
        """Return the module and the path in it."""
        return f"{self.module}.{self.path}" if self.module else self.path


@dataclass(frozen=True, slots=True)
class Total:
    """Sums over one mesh: ``device`` is the size on each device, ``whole`` that of one copy of everything.

    ``counted`` parameters are summed; ``open`` ones are left out, since something about them is not known.
    ``state`` is the size on each device of what an optimizer keeps of sharded parameters.
    """

    device: int
    whole: int
    counted: int
    open: int
    state: int = 0


@dataclass(frozen=True, slots=True)
class ParameterReport:
    """Parameters, sorted by their size on a device, with totals for each mesh. ``notes`` are messages."""

    meshes: tuple[NamedMesh, ...]
    parameters: tuple[Parameter, ...]
    totals: tuple[Total, ...]
    limit: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule for paths: the number of parameters its pattern matches, and of those it matches first."""

    rule: PathRule
    matches: int
    takes: int


#: The rules that explain the causes for which JAX rejects a spec.
_CODES: Mapping[str, str] = {
    Cause.BAD_ENTRY: "SHL101",
    Cause.DUPLICATE_AXIS: "SHL102",
    Cause.UNKNOWN_AXIS: "SHL103",
    Cause.NOT_A_SPEC: "SHL104",
    Cause.TOO_LONG: "SHL201",
    Cause.INDIVISIBLE: "SHL202",
    Cause.UNCONSTRAINED: "SHL204",
}


@dataclass(frozen=True, slots=True)
class TableFinding:
    """A mistake in rules or parameters. ``subject`` is the rule or the path; ``meshes`` are names.

    ``kind`` is one of ``broken-pattern``, ``unmatched-rule``, ``shadowed-rule``, ``no-rule``, ``not-a-spec``
    and the names of `shardlint.laws.core.verdicts.Cause` for a spec that JAX rejects.
    """

    kind: str
    severity: Severity
    subject: str
    message: str
    meshes: tuple[str, ...] = ()

    @property
    def code(self) -> str | None:
        """Return the rule that explains it; None for what only a report with rules finds."""
        return _CODES.get(self.kind)

    @property
    def label(self) -> str:
        """Return the code of the rule, or else the kind."""
        return self.code or self.kind

    @property
    def failing(self) -> bool:
        """Return whether it makes a check fail."""
        return self.severity is not Severity.INFO


@dataclass(frozen=True, slots=True)
class InitReport:
    """The arrays of a model's init, and the effect of the rules. ``failures`` name inits that could not
    run.
    """

    init: str
    report: ParameterReport
    rules: tuple[RuleRow, ...] | None
    findings: tuple[TableFinding, ...]
    jax: str | None = None
    failures: tuple[str, ...] = ()
