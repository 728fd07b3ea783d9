"""The evaluator as overlays and semantics see it, and nothing of how it works.

`evaluator.Evaluator` is the interface; `call.Call` is a call with bound arguments; `context` has scopes,
frames and the dynamic context; `disjunction` evaluates once for each of several possible values; `mutation`
is the one door for changes of objects; `release_queries` asks JAX's history and records where another
release would answer otherwise; `name_mangling` gives private names their meaning. `budget` bounds the work
by steps, never by time.
"""
