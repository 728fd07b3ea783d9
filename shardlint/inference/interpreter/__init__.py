"""Evaluation: statements, expressions and calls of the program itself.

`interpreter.Interpreter` holds the state of one analysis and implements `machine.evaluator.Evaluator`;
`statements` and `expressions` are tables from node types to handlers; `call_dispatch` calls any value;
`functions` binds arguments and runs bodies. Nothing here runs the program, and both sides of an undecided
branch are evaluated and joined.
"""
