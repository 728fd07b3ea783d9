"""Confirmation of findings by the installed JAX."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from shardlint.confirm.child_process import Child, ChildLost
from shardlint.confirm.connection import Connection
from shardlint.confirm.witnesses.builder import devices_needed, witness_of
from shardlint.confirm.witnesses.requests import Witness
from shardlint.confirm.witnesses.sizes import MAX_DEVICES
from shardlint.laws.versions import Release
from shardlint.model.findings import Confirmation, Finding, Severity
from shardlint.support.lazy_dataclass import dataclass

Answer = dict[str, Any]
_MAX_LOSSES = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """JAX's outcome for a witness and its twin."""

    confirmation: Confirmation
    said: str | None = None


_UNCONFIRMED = Outcome(Confirmation.UNCONFIRMED)


class Confirmer:
    """Confirms findings in a worker that starts when first needed and stays running.

    ``python`` is an interpreter that has jax (else the one that runs shardlint), ``timeout`` is in seconds
    for each request, ``devices`` the number of fake devices to start with, ``memory`` in bytes. Nothing in
    the ``shunned`` folders is run or imported. ``notes`` are the reasons why findings stayed unconfirmed,
    each once. Close it, or use it in a ``with``.
    """

    def __init__(
        self,
        python: str | None = None,
        timeout: float = 60.0,
        devices: int = 8,
        memory: int = 4 << 30,
        shunned: Sequence[str] = (),
    ) -> None:
        self.notes: list[str] = []
        self._python = python or sys.executable
        self._timeout, self._devices, self._memory = timeout, devices, memory
        self._shunned = shunned
        self._connection: Connection | None = None
        self._child: Child | None = None
        self._losses = 0
        self._outcomes: dict[str, Outcome] = {}

    def __enter__(self) -> Confirmer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the worker; a later call starts another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def confirm(
        self, findings: Sequence[Finding], progress: Callable[[int, int], None] | None = None
    ) -> list[Finding]:
        """Return the findings, in order, each with its confirmation.

        An error that JAX refutes is returned as info. ``progress`` is called with the number done and the
        total.
        """
        confirmed = []
        for done, finding in enumerate(findings, 1):
            confirmed.append(_marked(finding, self._outcome(finding)))
            if progress is not None:
                progress(done, len(findings))
        return confirmed

    def recalled(self, finding: Finding) -> Finding:
        """Return a finding with its confirmation, if it, or an equivalent one, was confirmed before."""
        witness = witness_of(finding) if self._outcomes else None
        outcome = None if witness is None else self._outcomes.get(_key(witness))
        return finding if outcome is None else _marked(finding, outcome)

    def interrupt(self) -> None:
        """Stop the worker from another thread; the finding in progress stays unconfirmed."""
        if self._child is not None:
            self._child.close()

    def retry(self) -> None:
        """Forget requests without an answer, so that they are made again."""
        self.notes.clear()
        self._losses = 0
        self._outcomes = {key: one for key, one in self._outcomes.items() if one is not _UNCONFIRMED}

    def _outcome(self, finding: Finding) -> Outcome:
        witness = witness_of(finding)
        if witness is None:
            return Outcome(Confirmation.NOT_RUNNABLE)
        key = _key(witness)
        if key not in self._outcomes:
            self._outcomes[key] = self._run(witness)
        return self._outcomes[key]

    def _run(self, witness: Witness) -> Outcome:
        if self._losses >= _MAX_LOSSES:
            return _UNCONFIRMED
        try:
            answer, twin = self._ask(witness.request), self._ask(witness.repaired)
            other = None if witness.elsewhere is None else self._ask(witness.elsewhere)
        except ChildLost as reason:
            self._losses = _MAX_LOSSES if self._connection is None else self._losses + 1
            self._connection = None
            self._note(str(reason))
            return _UNCONFIRMED
        for reply in (answer, twin, *([] if other is None else [other])):
            if "unsupported" in reply:
                return Outcome(Confirmation.NOT_RUNNABLE, f"JAX {reply['jax']}: {reply['unsupported']}")
        outcome = judged(witness, answer, twin)
        return outcome if other is None else agreed(outcome, judged(witness, other, twin))

    def _ask(self, request: dict[str, Any]) -> Answer:
        """Return the worker's answer, first starting a worker with enough devices. Raises ChildLost."""
        needed = min(devices_needed(request), MAX_DEVICES)
        if self._connection is not None and self._connection.devices < needed:
            self.close()
        if self._connection is None:
            while self._devices < needed:
                self._devices *= 2
            self._connection = Connection(
                self._python,
                self._devices,
                self._timeout,
                self._memory,
                started=self._started,
                shunned=self._shunned,
            )
        return self._connection.ask(request)

    def _started(self, child: Child) -> None:
        self._child = child

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _key(witness: Witness) -> str:
    """Return a key that is equal for findings with the same outcome."""
    requests = (witness.request, witness.elsewhere, witness.repaired)
    return json.dumps([*requests, witness.expects, witness.unsharded], sort_keys=True)


def judged(witness: Witness, answer: Answer, twin: Answer) -> Outcome:
    """Compare what a witness expects with what JAX did."""
    jax = f"JAX {answer['jax']}"
    if answer["ok"]:
        if witness.expects is not None:
            # On an AbstractMesh nothing is lowered or run, so acceptance proves nothing.
            mesh = witness.request.get("mesh")
            abstract = isinstance(mesh, dict) and mesh["abstract"]
            return _UNCONFIRMED if abstract else Outcome(Confirmation.REFUTED, f"{jax}: accepted")
        if any(_is_sharded(answer, dimension) for dimension in witness.unsharded):
            return Outcome(Confirmation.REFUTED, f"{jax}: accepted, sharded {answer['spec']}")
        outcome = f"replicated on {answer['devices']} devices" if witness.unsharded else "in silence"
        confirmation = Confirmation.CONFIRMED if twin["ok"] else Confirmation.UNCONFIRMED
        return Outcome(confirmation, f"{jax}: accepted, {outcome}")
    raised = (answer["exception"], *answer["bases"])
    matches = witness.expects in raised and twin["ok"]
    confirmation = Confirmation.CONFIRMED if matches else Confirmation.UNCONFIRMED
    return Outcome(confirmation, f"{jax}: {answer['exception']}")


def agreed(returned: Outcome, inside: Outcome) -> Outcome:
    """Return the common outcome of an array that jit returns and one that it computes with."""
    if returned.confirmation is inside.confirmation:
        return returned
    outcome = f"{returned.said} where jit returns it, {inside.said} where it does not"
    return Outcome(Confirmation.UNCONFIRMED, outcome)


def _is_sharded(answer: Answer, dimension: int) -> bool:
    """Return whether a dimension of the result is split over some axis."""
    if answer["replicated"]:
        return False
    spec = answer["spec"]
    return spec is None or (dimension < len(spec) and bool(spec[dimension]))


def _marked(finding: Finding, outcome: Outcome) -> Finding:
    refuted = outcome.confirmation is Confirmation.REFUTED
    if refuted and finding.releases is not None and outcome.said is not None:
        # Another release's behaviour refutes nothing.
        refuted = Release.parse(outcome.said.removeprefix("JAX ")) in finding.releases
        outcome = outcome if refuted else Outcome(Confirmation.UNCONFIRMED, outcome.said)
    severity = Severity.INFO if refuted and finding.severity is Severity.ERROR else finding.severity
    return replace(finding, confirmation=outcome.confirmation, confirmed_by=outcome.said, severity=severity)
