"""Dimensions: integers, or sums of products with the unknown sizes left open.

A dimension is a plain ``int`` or an `Expr` in canonical form: a sum of products of atoms with
integer coefficients. An atom is a `Symbol` (``batch``), or a floor quotient or remainder that does
not simplify (``n//2``). Equal expressions compare equal, and an `Expr` is never a constant.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Union

from shardlint.support.lazy_dataclass import dataclass

#: The most factors in a product, and products in a sum; beyond them the size is unknown.
MAX_FACTORS = 16
MAX_PRODUCTS = 16

_fresh = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Symbol:
    """An unknown size. ``low`` is its least value, or None when it may be negative.

    ``serial`` distinguishes sizes that users gave the same name in different places.
    """

    name: str
    low: int | None = 0
    serial: int = 0

    def __str__(self) -> str:
        return self.name

    @property
    def number(self) -> int:
        """Return its allocation number, if it equals no other symbol; else 0."""
        return int(self.name[1:]) if self.name.startswith("?") else self.serial


@dataclass(frozen=True, slots=True)
class Quotient:
    """``numerator // denominator``, unsimplified."""

    numerator: Dim
    denominator: Dim

    def __str__(self) -> str:
        return f"{_wrapped(self.numerator)}//{_wrapped(self.denominator)}"


@dataclass(frozen=True, slots=True)
class Remainder:
    """``numerator % denominator``, where its value is not known."""

    numerator: Dim
    denominator: Dim

    def __str__(self) -> str:
        return f"{_wrapped(self.numerator)}%{_wrapped(self.denominator)}"


Atom = Union[Symbol, Quotient, Remainder]
Product = tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Expr:
    """A sum of products: ``terms`` pairs each product of atoms with its coefficient, sorted."""

    terms: tuple[tuple[Product, int], ...]

    def __add__(self, other: Dim) -> Dim:
        return _sum(itertools.chain(self.terms, _terms(other)))

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim) -> Dim:
        return self + other * -1

    def __rsub__(self, other: Dim) -> Dim:
        return self * -1 + other

    def __mul__(self, other: Dim) -> Dim:
        return _sum((_ordered(a + b), m * n) for a, m in self.terms for b, n in _terms(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: Dim) -> Dim:
        return floordiv(self, other)

    def __rfloordiv__(self, other: Dim) -> Dim:
        return floordiv(other, self)

    def __mod__(self, other: Dim) -> Dim:
        return mod(self, other)

    def __rmod__(self, other: Dim) -> Dim:
        return mod(other, self)

    def __str__(self) -> str:
        parts = []
        for product, n in self.terms:
            factors = [_wrapped(atom) for atom in product]
            if n != 1 or not factors:
                factors.insert(0, str(n))
            parts.append("*".join(factors))
        return " + ".join(parts).replace("+ -", "- ")


Dim = Union[int, Expr]
Shape = tuple[Dim, ...]


def symbol(name: str, low: int | None = 0) -> Expr:
    """Return the dimension that is the symbol of this name."""
    return Expr((((Symbol(name, low),), 1),))


def distinct(name: str, low: int | None = 0) -> Expr:
    """Return a symbol of this name that equals no other symbol."""
    return Expr((((Symbol(name, low, next(_fresh)),), 1),))


def fresh(low: int | None = 0) -> Expr:
    """Return a dimension about which nothing is known, equal only to itself."""
    return symbol(f"?{next(_fresh)}", low)


def latest() -> int:
    """Return a number that is less than those of all symbols created later by `fresh` and `distinct`."""
    return next(_fresh)


def renewed(dim: Dim, after: int, known: dict[Symbol, Symbol]) -> Dim:
    """Return the dimension with symbols allocated after ``after`` renamed, as recorded in ``known``."""
    if isinstance(dim, int):
        return dim
    terms = ((tuple(_renewed(atom, after, known) for atom in product), n) for product, n in dim.terms)
    return _sum((_ordered(product), n) for product, n in terms)


def _ordered(product: Product) -> Product:
    # Most products have one factor, and expanding one is costly.
    return product if len(product) < 2 else tuple(sorted(product, key=str))


def _renewed(atom: Atom, after: int, known: dict[Symbol, Symbol]) -> Atom:
    if not isinstance(atom, Symbol):
        return type(atom)(renewed(atom.numerator, after, known), renewed(atom.denominator, after, known))
    if atom not in known:
        if atom.number <= after:
            return atom
        number = next(_fresh)
        name, serial = (atom.name, number) if atom.serial else (f"?{number}", 0)
        known[atom] = Symbol(name, atom.low, serial)
    return known[atom]


def described(dim: Dim, numbers: dict[Symbol, int]) -> Hashable:
    """Return a canonical form, equal for dimensions that differ only in symbols without a name.

    These are numbered in order of appearance.
    """
    if isinstance(dim, int):
        return dim
    return tuple((tuple(_described(atom, numbers) for atom in product), n) for product, n in dim.terms)


def _described(atom: Atom, numbers: dict[Symbol, int]) -> Hashable:
    if not isinstance(atom, Symbol):
        return type(atom), described(atom.numerator, numbers), described(atom.denominator, numbers)
    if not atom.number:
        return atom
    return atom.name if atom.serial else "?", atom.low, numbers.setdefault(atom, len(numbers))


def is_anonymous(dim: Dim) -> bool:
    """Return whether the dimension contains a size without a user's name."""
    return any(name.startswith("?") for name in symbols(dim))


def symbols(dim: Dim) -> frozenset[str]:
    """Return the names of all symbols in a dimension."""
    if isinstance(dim, int):
        return frozenset()
    found: set[str] = set()
    for product, _ in dim.terms:
        for atom in product:
            if isinstance(atom, Symbol):
                found.add(atom.name)
            else:
                found |= symbols(atom.numerator) | symbols(atom.denominator)
    return frozenset(found)


def substitute(dim: Dim, sizes: Mapping[str, Dim]) -> Dim:
    """Replace symbols by sizes, simplifying. Raises ZeroDivisionError for a zero denominator."""
    if isinstance(dim, int):
        return dim
    total: Dim = 0
    for product, n in dim.terms:
        term: Dim = n
        for atom in product:
            if isinstance(atom, Symbol):
                factor: Dim = sizes.get(atom.name, Expr((((atom,), 1),)))
            else:
                top, bottom = substitute(atom.numerator, sizes), substitute(atom.denominator, sizes)
                factor = floordiv(top, bottom) if isinstance(atom, Quotient) else mod(top, bottom)
            term = term * factor
        total = total + term
    return total


def floordiv(a: Dim, b: Dim) -> Dim:
    """Return ``a // b``, simplified where every product divides. Raises ZeroDivisionError."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    exact = _exact_quotient(a, b)
    return exact if exact is not None else _atom(Quotient(a, b))


def mod(a: Dim, b: Dim) -> Dim:
    """Return ``a % b``, simplified where it is provable. Raises ZeroDivisionError."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if _exact_quotient(a, b) is not None:
        return 0
    if isinstance(b, int) and (rest := _remainder(a, b)) is not None:
        return rest
    return _atom(Remainder(a, b))


def divisible(dim: Dim, by: Dim) -> bool | None:
    """Return whether ``by`` divides ``dim``: True or False where it holds for every size, else None."""
    if isinstance(dim, int) and isinstance(by, int):
        return dim % by == 0 if by else None
    if _exact_quotient(dim, by) is not None:
        return True
    if isinstance(by, int) and by and (rest := _remainder(dim, by)) is not None:
        return rest == 0
    return None


def equal(a: Dim, b: Dim) -> bool | None:
    """Return whether two dimensions are equal: True or False where provable, else None."""
    difference = a - b
    if isinstance(difference, int):
        return difference == 0
    low = lower_bound(difference)
    if low is not None and low > 0:
        return False
    low = lower_bound(difference * -1)
    return False if low is not None and low > 0 else None


def compare(operator: str, a: Dim, b: Dim) -> bool | None:
    """Return the outcome of a comparison of two dimensions (``<=``) where it is provable, else None."""
    if operator in ("==", "!="):
        outcome = equal(a, b)
        return None if outcome is None else outcome is (operator == "==")
    if operator in (">", "<="):
        return compare("<" if operator == ">" else ">=", b, a)
    # a < b and a >= b, as far as provable from the difference.
    up, down = lower_bound(b - a), lower_bound(a - b)
    less = True if up is not None and up > 0 else False if down is not None and down >= 0 else None
    return less if less is None or operator == "<" else not less


def lower_bound(dim: Dim) -> int | None:
    """Return a lower bound of the dimension, if its symbols' bounds imply one."""
    if isinstance(dim, int):
        return dim
    total = 0
    for product, n in dim.terms:
        lows = [_atom_low(atom) for atom in product]
        if (n < 0 and product) or any(low is None or low < 0 for low in lows):
            return None
        total += n * math.prod(low for low in lows if low is not None)
    return total


def product(dims: Iterable[Dim]) -> Dim:
    """Return the product of dimensions: the size of an array of that shape."""
    total: Dim = 1
    for dim in dims:
        total = total * dim
    return total


def _atom_low(atom: Atom) -> int | None:
    if isinstance(atom, Symbol):
        return atom.low
    if isinstance(atom, Remainder):
        return 0 if (lower_bound(atom.denominator) or 0) > 0 else None
    top, bottom = lower_bound(atom.numerator), lower_bound(atom.denominator)
    return 0 if top is not None and top >= 0 and bottom is not None and bottom > 0 else None


def _terms(dim: Dim) -> tuple[tuple[Product, int], ...]:
    if isinstance(dim, Expr):
        return dim.terms
    return (((), int(dim)),) if dim else ()


def _sum(terms: Iterable[tuple[Product, int]]) -> Dim:
    totals: dict[Product, int] = {}
    for factors, n in terms:
        if len(factors) > MAX_FACTORS:
            return fresh(None)
        totals[factors] = totals.get(factors, 0) + n
    kept = [(factors, n) for factors, n in totals.items() if n]
    if len(kept) > 1:
        kept.sort(key=lambda term: (len(term[0]) == 0, str(term)))
    if len(kept) > MAX_PRODUCTS:
        return fresh(None)
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    return Expr(tuple(kept))


def _exact_quotient(a: Dim, b: Dim) -> Dim | None:
    """Return ``a / b`` when ``b`` is one product that divides each product of ``a``, else None."""
    divisor = _terms(b)
    if len(divisor) != 1:
        return 1 if a == b and divisor else None
    (factors, n), quotient = divisor[0], []
    for product, m in _terms(a):
        rest = list(product)
        for factor in factors:
            if factor not in rest:
                return None
            rest.remove(factor)
        if m % n:
            return None
        quotient.append((tuple(rest), m // n))
    return _sum(quotient)


def _remainder(a: Dim, k: int) -> int | None:
    """Return ``a % k`` when every product but the constant is a multiple of ``k``, else None."""
    constant = 0
    for product, n in _terms(a):
        if not product:
            constant = n
        elif n % k:
            return None
    return constant % k


def _atom(atom: Atom) -> Expr:
    if len(str(atom)) > 200:
        return fresh(None)
    return Expr((((atom,), 1),))


def _wrapped(part: Dim | Atom) -> str:
    text = str(part)
    return f"({text})" if isinstance(part, Expr) and " " in text else text
