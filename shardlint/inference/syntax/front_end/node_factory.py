"""Creation of libcst nodes that have only the fields of `node_fields.FIELDS`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, cast

import libcst as cst

from shardlint.inference.syntax.node_fields import FIELDS


def _maker(kind: type[cst.CSTNode]) -> Callable[..., Any]:
    """Return a function that creates nodes of a class from its `FIELDS`, in order and unchecked."""
    # Setting slots is ten times as fast as the constructors of libcst's classes.
    slots = [getattr(kind, name).__set__ for name in FIELDS[kind]]
    new = cast("Callable[[type], cst.CSTNode]", object.__new__)
    if len(slots) == 1:
        (only,) = slots

        def make_one(value: object) -> cst.CSTNode:
            node = new(kind)
            only(node, value)
            return node

        return make_one
    if len(slots) == 2:
        one, two = slots

        def make_two(first: object, second: object) -> cst.CSTNode:
            node = new(kind)
            one(node, first)
            two(node, second)
            return node

        return make_two
    if len(slots) == 3:
        one, two, three = slots

        def make_three(first: object, second: object, third: object) -> cst.CSTNode:
            node = new(kind)
            one(node, first)
            two(node, second)
            three(node, third)
            return node

        return make_three

    def make(*values: object) -> cst.CSTNode:
        node = new(kind)
        for set_slot, value in zip(slots, values, strict=True):
            set_slot(node, value)
        return node

    return make


#: The factory of each class.
MAKE = {kind: _maker(kind) for kind in FIELDS}

#: The libcst operators of `ast` operators: the plain one, and that of an augmented assignment.
OPERATORS: dict[type[ast.AST], tuple[cst.CSTNode, ...]] = {
    ast.Add: (cst.Add(), cst.AddAssign()),
    ast.Sub: (cst.Subtract(), cst.SubtractAssign()),
    ast.Mult: (cst.Multiply(), cst.MultiplyAssign()),
    ast.MatMult: (cst.MatrixMultiply(), cst.MatrixMultiplyAssign()),
    ast.Div: (cst.Divide(), cst.DivideAssign()),
    ast.Mod: (cst.Modulo(), cst.ModuloAssign()),
    ast.Pow: (cst.Power(), cst.PowerAssign()),
    ast.LShift: (cst.LeftShift(), cst.LeftShiftAssign()),
    ast.RShift: (cst.RightShift(), cst.RightShiftAssign()),
    ast.BitOr: (cst.BitOr(), cst.BitOrAssign()),
    ast.BitXor: (cst.BitXor(), cst.BitXorAssign()),
    ast.BitAnd: (cst.BitAnd(), cst.BitAndAssign()),
    ast.FloorDiv: (cst.FloorDivide(), cst.FloorDivideAssign()),
    ast.And: (cst.And(),),
    ast.Or: (cst.Or(),),
    ast.Invert: (cst.BitInvert(),),
    ast.Not: (cst.Not(),),
    ast.UAdd: (cst.Plus(),),
    ast.USub: (cst.Minus(),),
    ast.Eq: (cst.Equal(),),
    ast.NotEq: (cst.NotEqual(),),
    ast.Lt: (cst.LessThan(),),
    ast.LtE: (cst.LessThanEqual(),),
    ast.Gt: (cst.GreaterThan(),),
    ast.GtE: (cst.GreaterThanEqual(),),
    ast.Is: (cst.Is(),),
    ast.IsNot: (cst.IsNot(),),
    ast.In: (cst.In(),),
    ast.NotIn: (cst.NotIn(),),
}
