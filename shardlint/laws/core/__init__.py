"""The vocabulary of all laws: values, sizes, types and verdicts.

`values` has `Mesh`, `Spec` and `Unknown`; `dims` the algebra of sizes that may be symbols; `array_types`
shapes with dtypes and shardings in the type; `verdicts` the three answers, and `check_chain` the pipeline
that derives one from single checks in JAX's order. `python_source` writes values as Python, `size_syntax`
reads sizes that a user writes, `witness_data` is the tagged data from which a witness program is built.

Everything here is immutable and compares by content.
"""
