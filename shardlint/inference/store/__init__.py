"""Bookkeeping of mutable abstract objects: their numbers, writes and reads.

Every object that a program can change gets a number when it is made (`effect_log.born`), and every write to
it is announced (`effect_log.changing`), so that a call whose writes touch only objects that it made itself
can be memoised. `field_reads` records which fields were read; `identity_set` is an ordered list without
duplicates, by identity.

A write that is not announced makes stale results: use `changing` before each.
"""
