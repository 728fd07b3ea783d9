"""The settings of a run."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import TYPE_CHECKING

from shardlint.laws.versions import ASSUMED_ONLY, Target, only
from shardlint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from shardlint.config.deployments import Deployment
    from shardlint.config.loading.logical_axes import LogicalRule
    from shardlint.laws.core.values import Mesh
    from shardlint.laws.versions import Release
    from shardlint.source.workspace.discovery import Filter

#: Folders that hold no code of the project's own.
DEFAULT_EXCLUDE = (
    ".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", ".eggs", "*.egg-info", "node_modules",
    "__pycache__", "__pypackages__", ".ipynb_checkpoints", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    "site-packages", "build", "dist", "_build",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules that one file, or the command line, selects. ``select`` is None where it has none.

    All fields hold selectors: codes, prefixes of codes (``SHL2``), names, groups or ``ALL``.
    """

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a user decides.

    ``root`` is the folder patterns are relative to and imports are resolved in; ``outer_roots`` are those of
    the configurations and the repository around it, in which imports are resolved too.
    ``select`` to ``extend_ignore`` hold rule selectors (see `Selection`), and ``asked`` those of the command
    line, which go after them; ``preview`` lets rules in that are not settled.
    ``severity`` pairs selectors with what findings that JAX accepts are shown as. ``per_file_ignores`` pairs
    patterns of paths with selectors. Patterns of the command line (``asked_exclude``,
    ``asked_per_file_ignores``) are relative to where the user is.

    ``meshes`` are the meshes a
    project deploys on, by name, of which ``typed_meshes`` say what types their axes have; ``mesh`` is one
    given on the command line, and goes before them.
    ``dims`` are the sizes of dimensions that a program leaves open, by the name it uses for them
    (``d_model``, ``cfg.d_model``). ``logical_rules`` are Flax's rules for logical axis names where a
    program leaves them to its caller, None where there are none. ``replicated_bytes`` is the size from
    which an array should not lie whole on every device.
    ``target_jax`` are the releases of JAX the project means to run on, None where it names none; then
    ``present_jax`` is judged, the JAX at hand, if there is one.
    ``ask_jax`` has a JAX at hand asked for the results of its functions that no overlay knows.
    ``confirm_devices`` is how many devices confirmation fakes, ``confirm_timeout`` is in seconds.
    ``cost_hbm``, ``cost_sent`` and ``cost_reshard`` are bounds in bytes for `shardlint compile`.
    ``report_init`` and ``report_rules`` (``package.module:name``) are what `shardlint report --init` runs.
    ``baseline`` is the file of the findings that are there already. ``docs_url`` is where the pages of the
    documentation are published. ``editing`` tells that an editor asks (see `InferenceSettings`).
    """

    root: str = "."
    outer_roots: tuple[str, ...] = ()
    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    asked: Selection = Selection()
    preview: bool = False
    severity: tuple[tuple[str, str], ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    extend_per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    asked_per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    asked_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False
    fixtures: tuple[str, ...] = ("fixtures",)
    baseline: str | None = None
    devices: int | None = None
    mesh: Mesh | None = None
    meshes: tuple[tuple[str, Mesh], ...] = ()
    typed_meshes: frozenset[str] = frozenset()
    target_jax: Target | None = None
    present_jax: Release | None = None
    dims: tuple[tuple[str, int], ...] = ()
    logical_rules: tuple[LogicalRule, ...] | None = None
    replicated_bytes: int = 64 * 2**20
    ask_jax: bool = False
    confirm_devices: int = 8
    confirm_timeout: float = 60.0
    cost_hbm: int | None = None
    cost_sent: int | None = None
    cost_reshard: int | None = None
    report_init: str | None = None
    report_rules: str | None = None
    docs_url: str | None = None
    exhaustive: bool = False
    editing: bool = False

    def page_of(self, rule: str) -> str | None:
        """Return the address of a rule's page, given the rule's name, where that is known."""
        return self.docs_url and f"{self.docs_url.rstrip('/')}/rules/{rule}/"

    @property
    def deployments(self) -> list[Deployment]:
        """Return the meshes to assume, one after the other, where a program's is not known."""
        from shardlint.config.deployments import Deployment

        if self.mesh is not None:
            return [Deployment(None, self.mesh)]
        return [Deployment(name, mesh, name in self.typed_meshes) for name, mesh in self.meshes]

    @property
    def assumed_meshes(self) -> list[Mesh | None]:
        """Return the meshes of `deployments`."""
        return [deployment.mesh for deployment in self.deployments]

    @property
    def filter(self) -> Filter:
        """Return the selection of a folder's files."""
        from shardlint.source.workspace.discovery import Filter

        return Filter(
            root=self.root,
            exclude=(*self.exclude, *self.extend_exclude),
            include=self.include,
            here=self.asked_exclude,
            gitignore=self.respect_gitignore,
            force=self.force_exclude,
        )

    @property
    def import_roots(self) -> tuple[str, ...]:
        """Return the folders in which imports are resolved, nearest first."""
        around = [(root, os.path.join(root, "src")) for root in (self.root, *self.outer_roots)]
        return tuple(dict.fromkeys((*(folder for pair in around for folder in pair), os.getcwd())))

    @property
    def target(self) -> Target:
        """Return the releases of JAX to judge: the project's, else the one at hand, else the newest known."""
        if self.target_jax is not None:
            return self.target_jax
        return ASSUMED_ONLY if self.present_jax is None else only(self.present_jax)

    @property
    def analysis(self) -> Hashable:
        """Return the part that inference and the rules depend on: equal parts give equal analyses."""
        return (
            self.import_roots, self.devices, self.mesh, self.meshes, self.typed_meshes,
            self.target, self.dims, self.logical_rules, self.replicated_bytes,
            self.exhaustive, self.editing, self.ask_jax,
        )  # fmt: skip
