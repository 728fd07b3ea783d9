"""The programs that were compiled in this session, and what the compiler made of them."""

from __future__ import annotations

from shardlint.api import Settings, compiling, editing
from shardlint_server.confirmation.target_runs import TargetRuns
from shardlint_server.documents.documents import Target


class Compilations(TargetRuns[compiling.Compiled]):
    """Compiles programs. After an edit, a result still counts for lines that are the same, and is stale."""

    def __init__(self) -> None:
        super().__init__("compiler")

    async def run(
        self, target: Target, source: editing.Source, settings: Settings, python: str | None
    ) -> compiling.Compiled:
        """Run a program, the user's own code, and return what it compiles to."""
        return await self.of_target(
            target, lambda started: compiling.compile_program(source, settings, python, started)
        )
