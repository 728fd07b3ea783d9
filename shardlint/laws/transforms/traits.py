"""Traits of values along the Manual axes of `jax.shard_map`, of which JAX's types say nothing."""

from __future__ import annotations

from enum import StrEnum


class Trait(StrEnum):
    """A property that a value certainly has along an axis, and which JAX's types do not say.

    SPLIT: another part of the program's data on each device. DRAWN: the same random draw on all devices.
    RATIO: of two numbers, each of another part of the data on each device. SUMMED: computed from the sum
    of what was split, by a psum whose transpose is a psum. SCALED: the gradient of such a sum, times the
    devices, and TIMES: that by what is split, or the sum of such gradients. PARTIAL: of a product along a
    dimension that is split, to which BIASED a whole array was added, or of which it is a CURVED function;
    DIVIDED: perhaps by the number of devices. LOCAL: reduced along a dimension that is split, by a MEAN
    perhaps. MEANS: the sum of such means, GRADIENT that of their gradients, AVERAGED one of these.
    PRODUCT: of such means, or another function that is not linear in them; CLIPPED: such a gradient that
    was clipped. OWN: the gradient by another part of an argument on each device, or another part of a
    sum. GATHERED: computed from the data of all devices. NUMBERED: counted from 0 on each device alike;
    STAMPED: computed, element by element, with such numbers and a part of a dimension. INDEX: a place in
    a dimension of which each device has a part; PLACES: those of all devices. TOTAL: the sum over all
    devices, and AGAIN: such a sum to which each device added something of its own. COUNTED: what lies on
    a device is chosen by its number, in another order than that of the specs; SHUFFLED: gathered in such
    an order. JOINED: a piece of several arrays that were joined before they were split. DRIFTING: the
    same on all devices at first, and another value on each after a round of a loop. GIVEN: integers of an
    argument; ONE_HOT: vectors that tell such apart, counted from 0, the same on all devices. ROWS: what
    such integers pick along the first dimension of an array, of which each device has a part, and PICKED:
    along another, for each row. SPREAD: the variance of this device's part of the data, or its root;
    EXTREME: the place of the largest or smallest element of the part. EXAMPLE: one of those that a `vmap`
    maps over along a dimension of which each device has a part. HEADLESS: without the first elements of this
    device's part of a dimension, TAILLESS without the last; LED: with others before the first, TRAILED with
    others after the last. LEADING: the first elements of an array that all
    devices have. FAN_IN: drawn with a deviation for the size of its last dimension but one, FAN_OUT
    for that of its last, of which other devices may draw other parts. KEYED: drawn with another key on each
    device, and REPLICA: given so to the body of a `pmap`; APART: the gradient by such. CUT: an array whose
    first dimension was cut into a part for each device. CENTRED: less the mean of this device's part.
    STACKED: what a `pmap` returned, of which each device has an item. STEADY: computed from nothing that
    a loop changes, CARRIED: a variable of the loop; REDUCED: the sum over the devices of what is steady,
    ADDED: with such a sum added.
    """

    SPLIT = "split"
    DRAWN = "drawn"
    RATIO = "ratio"
    SUMMED = "summed"
    SCALED = "scaled"
    TIMES = "times"
    PARTIAL = "partial"
    BIASED = "biased"
    CURVED = "curved"
    DIVIDED = "divided"
    LOCAL = "local"
    MEAN = "mean"
    MEANS = "means"
    GRADIENT = "gradient"
    AVERAGED = "averaged"
    PRODUCT = "product"
    CLIPPED = "clipped"
    OWN = "own"
    GATHERED = "gathered"
    NUMBERED = "numbered"
    STAMPED = "stamped"
    INDEX = "index"
    PLACES = "places"
    TOTAL = "total"
    AGAIN = "again"
    DRIFTING = "drifting"
    COUNTED = "counted"
    SHUFFLED = "shuffled"
    JOINED = "joined"
    GIVEN = "given"
    ONE_HOT = "one-hot"
    ROWS = "rows"
    PICKED = "picked"
    SPREAD = "spread"
    EXTREME = "extreme"
    EXAMPLE = "example"
    HEADLESS = "headless"
    TAILLESS = "tailless"
    LED = "led"
    TRAILED = "trailed"
    LEADING = "leading"
    FAN_IN = "fan-in"
    FAN_OUT = "fan-out"
    KEYED = "keyed"
    REPLICA = "replica"
    APART = "apart"
    CUT = "cut"
    CENTRED = "centred"
    STEADY = "steady"
    CARRIED = "carried"
    REDUCED = "reduced"
    ADDED = "added"
    STACKED = "stacked"


#: Traits of numbers that lose them unless they are only added up.
FLEETING = frozenset(
    {
        Trait.SCALED,
        Trait.TIMES,
        Trait.MEAN,
        Trait.MEANS,
        Trait.GRADIENT,
        Trait.AVERAGED,
        Trait.OWN,
        Trait.STAMPED,
        Trait.INDEX,
        Trait.PLACES,
        Trait.TOTAL,
        Trait.AGAIN,
        Trait.DRIFTING,
        Trait.GIVEN,
        Trait.ONE_HOT,
        Trait.ROWS,
        Trait.PICKED,
        Trait.SPREAD,
        Trait.EXTREME,
        Trait.LEADING,
        Trait.FAN_IN,
        Trait.FAN_OUT,
        Trait.REPLICA,
        Trait.APART,
        Trait.CENTRED,
        Trait.STEADY,
        Trait.CARRIED,
        Trait.STACKED,
        Trait.REDUCED,
        Trait.ADDED,
    }
)
#: Traits of parts that are yet to be added up.
OF_PARTS = frozenset(
    {
        Trait.PARTIAL,
        Trait.BIASED,
        Trait.CURVED,
        Trait.DIVIDED,
        Trait.LOCAL,
        Trait.RATIO,
        Trait.PRODUCT,
        Trait.CLIPPED,
        Trait.ROWS,
        Trait.PICKED,
    }
)
#: Traits of values that are the same on all devices.
SAME = frozenset({Trait.DRAWN, Trait.NUMBERED})


#: Traits, each with its axis.
Traits = frozenset[tuple[Trait, str]]
NO_TRAITS: Traits = frozenset()
