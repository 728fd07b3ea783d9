"""Memoised calls: a function that is called again with equal arguments returns what it returned before.

Enter by `call_cache`. A call's result is cached as a `summary`, with what it read, what it emitted
(`trace`) and what it changed. The key is canonical (`canonical_keys`): two values have one key if
evaluation cannot tell them apart. A cache hit replays the summary at the call site (`replay`), with fresh
copies of the objects that it made (`instantiation`). `receiver_summary` is `self` of methods that nothing
calls.

A summary is valid only where everything it read is still the same: a read that is not recorded makes stale
results.
"""
