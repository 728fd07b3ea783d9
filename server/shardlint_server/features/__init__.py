"""A module a feature of the protocol: each registers its handlers on the server, asks the session, and
converts.

Handlers are thin: what they show is computed in `analysis` or by `shardlint.api`, and converted by pure
functions.
"""
