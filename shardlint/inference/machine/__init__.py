"""The machine as handlers see it: one analysis, and its entry points for evaluation.

`machine.Machine` is a protocol that the interpreter implements, so that handlers, caches and loaders need not
import it; it extends `evaluation.evaluator.Evaluator` by the operations on syntax. `code` is the code of a
function (`code_reads` records that its text was read), `module_run` a module that runs or has run; `trace`
holds the events of a run so far, `variable_reads` records its reads of older variables, and `condition_ids`
knows which tests have the same outcome. The other modules are the types of which the machine holds state for
handlers: `generator_body`, `stated_facts`, `class_summaries`.
"""
