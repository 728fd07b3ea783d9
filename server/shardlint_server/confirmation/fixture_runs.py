"""The fixtures run in this session, with JAX's behaviour."""

from __future__ import annotations

from collections.abc import Sequence

from shardlint.api import Settings, editing
from shardlint.model.findings import Finding
from shardlint_server.confirmation.target_runs import TargetRuns
from shardlint_server.documents.documents import Target


class FixtureRuns(TargetRuns[editing.Ran]):
    """Runs fixtures; a result counts while the text is unchanged."""

    def __init__(self) -> None:
        super().__init__("fixtures")

    def of(self, target: Target) -> Sequence[Finding]:
        """Return the findings of a target's run."""
        ran = self.result(target)
        return ran.disagreements if ran is not None else ()

    async def run(
        self,
        target: Target,
        source: editing.Source,
        findings: Sequence[Finding],
        settings: Settings,
        python: str | None,
    ) -> editing.Ran:
        """Run a fixture: the user's own code."""
        return await self.of_target(
            target, lambda started: editing.run_fixture(source, findings, settings, python, started)
        )
