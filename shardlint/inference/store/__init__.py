"""Bookkeeping of mutable abstract objects: their numbers, writes and reads.

Every object that a program can mutate gets an allocation number (`effect_log.born`), and every write to it is
announced (`effect_log.changing`), so that a call that writes only to objects which it created itself can be
memoised. `identity_set` is an ordered list without duplicates, by identity.

A write that is not announced makes stale results: call `changing` before each.
"""
