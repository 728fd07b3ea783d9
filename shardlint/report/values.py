"""What a report says, as frozen values: parameters, what each device of a mesh holds of them, totals."""

from __future__ import annotations

from shardlint.laws.core.dims import Dim, Shape
from shardlint.laws.core.values import Mesh, Spec
from shardlint.laws.flax.path_rules import PathRule
from shardlint.laws.placement.array_bytes import Split
from shardlint.model.findings import Severity
from shardlint.model.spans import Span
from shardlint.support.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class NamedMesh:
    """A mesh under the name it has in the configuration, on the command line, or in the program."""

    name: str
    mesh: Mesh


@dataclass(frozen=True, slots=True)
class Holding:
    """What each device of a mesh holds of a parameter.

    ``spec`` is what the names or the rules come to, None where that is not known; ``shard`` the shape of
    a device's part; ``bytes`` what one part takes, None where something is not known; ``copies`` how many
    devices hold the same. ``problem`` says why the parameter cannot lie so, or why it is not known how.
    ``large`` marks one that is whole on every device and larger than the configured limit; ``split`` is
    then the best way out.
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
    """One parameter, or ``count`` alike.

    ``module`` is the class that declares it, ``path`` where it lies in its module or in what init makes,
    ``owner`` the layer (``nn.Dense``; empty where init made it). ``names`` is the partitioning that was
    written, ``labels`` the name each dimension has in it; ``bytes`` are those of one whole array.
    ``rule`` is the index of the rule that took it. ``alternative`` tells that the program may make another
    one in its place. ``holdings`` has one entry a mesh of the report: None where the parameter does not
    meet that mesh.
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

    @property
    def name(self) -> str:
        """The module and the path in it."""
        return f"{self.module}.{self.path}" if self.module else self.path


@dataclass(frozen=True, slots=True)
class Total:
    """Sums over one mesh: ``device`` is what each device holds, ``whole`` what one copy of all takes.

    ``counted`` parameters are summed; ``open`` are left out, since something of them is not known.
    """

    device: int
    whole: int
    counted: int
    open: int


@dataclass(frozen=True, slots=True)
class ParameterReport:
    """Parameters, by what each device holds of them, with totals for each mesh. ``notes`` are for people."""

    meshes: tuple[NamedMesh, ...]
    parameters: tuple[Parameter, ...]
    totals: tuple[Total, ...]
    limit: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule for paths: how many parameters its pattern matches, and how many it takes as the first."""

    rule: PathRule
    matches: int
    takes: int


@dataclass(frozen=True, slots=True)
class TableFinding:
    """Something wrong with rules and parameters. ``subject`` is the rule or the path; ``meshes`` by name.

    ``kind`` is one of ``broken-pattern``, ``unmatched-rule``, ``shadowed-rule``, ``no-rule``, ``not-a-spec``
    and the names of `shardlint.laws.core.verdicts.Cause` for a spec that JAX refuses.
    """

    kind: str
    severity: Severity
    subject: str
    message: str
    meshes: tuple[str, ...] = ()

    @property
    def failing(self) -> bool:
        """Whether it makes a check fail."""
        return self.severity is not Severity.INFO


@dataclass(frozen=True, slots=True)
class InitReport:
    """What a model's init makes and what rules do with it. ``failures`` say which init could not be run."""

    init: str
    report: ParameterReport
    rules: tuple[RuleRow, ...] | None
    findings: tuple[TableFinding, ...]
    jax: str | None = None
    failures: tuple[str, ...] = ()
