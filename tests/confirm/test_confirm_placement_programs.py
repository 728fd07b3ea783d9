"""Placements under transforms: no error where JAX accepts, and witnesses that do what the programs do.

A sample; `placement_programs.py` runs them all.
"""

from __future__ import annotations

import placement_programs
import pytest
from placement_programs import CLAIMS, answers, cases
from support.stored_answers import stored_confirmer
from support.stored_runs import stored_run

pytestmark = pytest.mark.usefixtures("forked_workers")

#: What was once claimed wrongly: what is staged in `checkpoint`, a cotangent that `vmap` does not map, what
#: `vmap` puts with its mapped dimension, what is filled with a traced array.
ONCE_WRONG = {
    "Auto, unset, zeros device, uneven, checkpoint",
    "Explicit, unset, zeros device, long, grad of checkpoint",
    "Auto, unset, constraint named, uneven, vmap of grad",
    "Auto, unset, array device, uneven, vmap",
    "Explicit, unset, full device, long, grad",
}


def test_claims_hold_under_transforms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement_programs, "run_fixture", stored_run)
    chosen = [case for number, case in enumerate(cases()) if number % 67 == 0 or case.name in ONCE_WRONG]
    with stored_confirmer() as confirmer:
        wrong = [
            (said, answer.case.name)
            for answer in answers(confirmer, chosen)
            for said in answer.wrong
            if said in CLAIMS
        ]
    assert not wrong
