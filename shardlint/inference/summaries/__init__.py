"""Memoised calls: a function called again with equal arguments returns its cached result.

Enter by `call_cache`. A call's result is cached as a `summary`, with its reads, its events (`trace`) and its
writes. The key is canonical (`canonical_keys`): two values have one key if evaluation cannot tell them apart.
A cache hit replays the summary at the call site (`replay`), with fresh copies of the objects that it
allocated (`instantiation`). `receiver_summary` is the `self` of methods without callers.

A summary is valid only while everything it read is unchanged: an unrecorded read causes stale results.
"""
