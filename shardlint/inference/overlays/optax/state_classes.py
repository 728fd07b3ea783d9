"""optax's classes of states: named tuples, by their fields (optax 0.2.8)."""

from __future__ import annotations

from collections.abc import Callable

from shardlint.inference.domain.values import Tuple, Value
from shardlint.inference.evaluation.call import Call
from shardlint.laws.core.values import Unknown

_COUNTED = "count mu nu"
FIELDS: dict[str, tuple[str, ...]] = {
    name: tuple(fields.split())
    for name, fields in {
        "ApplyEvery": "count grad_acc",
        "ApplyIfFiniteState": "notfinite_count last_finite total_notfinite inner_state",
        "EmaState": "count ema",
        "EmptyState": "",
        "FactoredState": "count v_row v_col v",
        "InjectHyperparamsState": "count hyperparams inner_state",
        "LookaheadParams": "fast slow",
        "LookaheadState": "fast_state steps_since_sync",
        "MaskedNode": "",
        "MaskedState": "inner_state",
        "MultiTransformState": "inner_states",
        "PartitionState": "inner_states",
        "ScaleByAdaDeltaState": "e_g e_x",
        "ScaleByAdamState": _COUNTED,
        "ScaleByAdanState": "m v n g t",
        "ScaleByAmsgradState": f"{_COUNTED} nu_max",
        "ScaleByBeliefState": _COUNTED,
        "ScaleByLionState": "count mu",
        "ScaleByNovogradState": _COUNTED,
        "ScaleByRStdDevState": "mu nu",
        "ScaleByRmsState": "nu",
        "ScaleByRpropState": "step_sizes prev_updates",
        "ScaleByRssState": "sum_of_squares",
        "ScaleBySM3State": "mu nu",
        "ScaleByScheduleState": "count",
        "ScaleByTrustRatioState": "",
        "ScaleState": "",
        "TraceState": "trace",
        "ZeroNansState": "found_nan",
    }.items()
}


def _made(fields: tuple[str, ...]) -> Callable[[Call], Value]:
    """Return the class with these fields, none of which has a default."""

    def make(call: Call) -> Value:
        parts = call.bind(*fields)
        known = tuple(Unknown("a field that is not given") if part is None else part for part in parts)
        return Tuple(known, call.place, fields)

    return make


TABLE: dict[str, Callable[[Call], Value]] = {
    f"optax.{name}": _made(fields) for name, fields in FIELDS.items()
}
