"""The machine as handlers see it: one analysis, and the ways back into evaluating.

`machine.Machine` is a protocol that the interpreter implements, so that handlers, caches and loaders need
not import it; it extends `evaluation.evaluator.Evaluator` by all that knows syntax. `code` is the code of a
function (`code_reads` notes that its text was read), `module_run` a module that runs or has run; `trace` is
what a run has emitted so far, and `variable_reads` records what it reads of variables that were there
before it.
"""
