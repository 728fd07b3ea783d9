"""Confirmation of findings by the installed JAX."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from shardlint.confirm.child_process import Child, ChildLost
from shardlint.confirm.connection import Connection
from shardlint.confirm.witnesses.builder import built, devices_needed, witness_of
from shardlint.confirm.witnesses.requests import NotRunnable, Witness
from shardlint.confirm.witnesses.sizes import MAX_DEVICES
from shardlint.laws.core.verdicts import Returned
from shardlint.laws.versions import Release, spans_text
from shardlint.model.findings import Confirmation, Finding, Severity
from shardlint.model.uses import Use
from shardlint.support.lazy_dataclass import dataclass

Answer = dict[str, Any]
_MAX_LOSSES = 3
#: As many calls of a repaired program are asked about.
_MOST_ACCEPTED = 40


@dataclass(frozen=True, slots=True)
class Outcome:
    """JAX's outcome for a witness and its twin; ``detail`` is the first line of what JAX says, or why the
    outcome is no other.
    """

    confirmation: Confirmation
    said: str | None = None
    detail: str | None = None


_NO_JAX = "the worker with JAX did not answer"


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
        self._unanswered: set[str] = set()

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
        if witness is None or outcome is None:
            return finding
        return _marked(finding, _of_other_size(outcome, witness, finding))

    def accepts(self, uses: Iterable[Use]) -> str | None:
        """Return the JAX that accepts these uses; None if it refuses one, or nothing can be asked."""
        requests: dict[str, dict[str, Any]] = {}
        for use in uses:
            try:
                request = built(use).request
            except NotRunnable:
                continue
            requests.setdefault(json.dumps(request, sort_keys=True), request)
        release = None
        for request in list(requests.values())[:_MOST_ACCEPTED]:
            try:
                answer = self._ask(request)
            except ChildLost as reason:
                self._connection = None
                self._note(str(reason))
                return None
            if not answer.get("ok"):
                return None
            release = str(answer["jax"])
        return release

    def answer(self, request: dict[str, Any]) -> Answer | None:
        """Return the worker's answer to a request that is no witness; None if it did not answer."""
        if self._losses >= _MAX_LOSSES:
            return None
        try:
            return self._ask(request)
        except ChildLost as reason:
            self._note_loss(reason)
            return None

    def interrupt(self) -> None:
        """Stop the worker from another thread; the finding in progress stays unconfirmed."""
        if self._child is not None:
            self._child.close()

    def retry(self) -> None:
        """Forget requests without an answer, so that they are made again."""
        self.notes.clear()
        self._losses = 0
        for key in self._unanswered:
            self._outcomes.pop(key, None)
        self._unanswered.clear()

    def _outcome(self, finding: Finding) -> Outcome:
        try:
            witness = built(finding.use)
        except NotRunnable as why:
            return Outcome(Confirmation.NOT_RUNNABLE, detail=str(why))
        key = _key(witness)
        if key not in self._outcomes:
            outcome = self._run(witness)
            if outcome is None:
                self._unanswered.add(key)
            self._outcomes[key] = outcome or Outcome(Confirmation.UNCONFIRMED, detail=_NO_JAX)
        return _of_other_size(self._outcomes[key], witness, finding)

    def _run(self, witness: Witness) -> Outcome | None:
        """Return what JAX does with a witness and its twin; None if the worker did not answer."""
        if self._losses >= _MAX_LOSSES:
            return None
        try:
            answer, twin = self._ask(witness.request), self._ask(witness.repaired)
            other = None if witness.elsewhere is None else self._ask(witness.elsewhere)
        except ChildLost as reason:
            self._note_loss(reason)
            return None
        for reply in (answer, twin, *([] if other is None else [other])):
            if "unsupported" in reply:
                why = f"JAX {reply['jax']}: {reply['unsupported']}"
                return Outcome(Confirmation.NOT_RUNNABLE, why, why)
        outcome = judged(witness, answer, twin)
        return outcome if other is None else agreed(witness, outcome, judged(witness, other, twin))

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

    def _note_loss(self, reason: ChildLost) -> None:
        """Record that the worker was lost; one that cannot be started is not tried again."""
        self._losses = _MAX_LOSSES if self._connection is None else self._losses + 1
        self._connection = None
        self._note(str(reason))

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _key(witness: Witness) -> str:
    """Return a key that is equal for findings with the same outcome."""
    requests = (witness.request, witness.elsewhere, witness.repaired)
    return json.dumps([*requests, witness.expects, witness.unsharded, witness.returned], sort_keys=True)


def _of_other_size(outcome: Outcome, witness: Witness, finding: Finding) -> Outcome:
    """Return an outcome that says so where JAX speaks of an array of another shape than the program's."""
    shape, tried = getattr(finding.use, "shape", None), witness.request.get("shape")
    if outcome.detail is None or not isinstance(shape, tuple) or tried is None or list(shape) == list(tried):
        return outcome
    if not any(text in outcome.detail for text in (str(tuple(tried)), str(list(tried)).replace(" ", ""))):
        return outcome
    return replace(outcome, detail=f"(with shape {tuple(tried)}) {outcome.detail}")


def judged(witness: Witness, answer: Answer, twin: Answer) -> Outcome:
    """Compare what a witness expects with what JAX did."""
    jax = f"JAX {answer['jax']}"
    if answer["ok"]:
        if witness.expects is not None:
            # On an AbstractMesh nothing is lowered or run, so acceptance proves nothing.
            mesh = witness.request.get("mesh")
            abstract = isinstance(mesh, dict) and mesh["abstract"]
            if abstract:
                return Outcome(Confirmation.UNCONFIRMED, detail="on an AbstractMesh nothing is run")
            return Outcome(Confirmation.REFUTED, f"{jax}: accepted")
        if any(_is_sharded(answer, dimension) for dimension in witness.unsharded):
            return Outcome(Confirmation.REFUTED, f"{jax}: accepted, sharded {answer['spec']}")
        outcome = f"replicated on {answer['devices']} devices" if witness.unsharded else "in silence"
        said = f"{jax}: accepted, {outcome}"
        if twin["ok"]:
            return Outcome(Confirmation.CONFIRMED, said)
        return Outcome(Confirmation.UNCONFIRMED, said, _also_refused(jax, twin))
    said, words = f"{jax}: {answer['exception']}", answer.get("message") or None
    if witness.expects not in (answer["exception"], *answer["bases"]):
        due = f"and {witness.expects} was expected" if witness.expects else "and was expected to accept it"
        return Outcome(Confirmation.UNCONFIRMED, said, f"{jax} raises {answer['exception']}, {due}")
    if not twin["ok"]:
        return Outcome(Confirmation.UNCONFIRMED, said, _also_refused(jax, twin))
    return Outcome(Confirmation.CONFIRMED, said, words)


def _also_refused(jax: str, twin: Answer) -> str:
    return f"{jax} refuses the repaired program, too, with {twin.get('exception')}"


#: What JAX does with an array that jit returns.
_AS_RETURNED = {Returned.REFUSED: ": IndivisibleError", Returned.NAMELESS: ": accepted, sharded None"}


def agreed(witness: Witness, returned: Outcome, inside: Outcome) -> Outcome:
    """Return the common outcome of an array that jit returns and one that it computes with."""
    if returned.confirmation is inside.confirmation:
        return returned
    said = str(inside.said).partition(": ")[2]
    outcome = f"{returned.said} where jit returns it, {said} where it does not"
    if witness.returned is not None and str(returned.said).endswith(_AS_RETURNED[witness.returned]):
        return Outcome(inside.confirmation, outcome)
    return Outcome(Confirmation.UNCONFIRMED, outcome, outcome)


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
        if not refuted:
            why = f"it is about JAX {spans_text(finding.releases)}"
            outcome = Outcome(Confirmation.UNCONFIRMED, outcome.said, why)
    severity = Severity.INFO if refuted and finding.severity is Severity.ERROR else finding.severity
    return replace(
        finding,
        confirmation=outcome.confirmation,
        confirmed_by=outcome.said,
        confirmation_detail=outcome.detail,
        severity=severity,
    )
