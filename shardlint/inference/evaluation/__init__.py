"""The evaluator's interface, as overlays and semantics see it.

`evaluator.Evaluator` is the interface; `call.Call` is a call with bound arguments; `context` has scopes,
frames and the dynamic context; `disjunction` evaluates once for each of several possible values; all changes
of objects go through `mutation`; `release_queries` queries JAX's history and records where another release
differs; `name_mangling` resolves private names. `budget` bounds the work by steps, never by time.
"""
