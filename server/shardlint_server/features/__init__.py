"""One module for each feature of the protocol: it registers its handlers on the server, queries the
session, and converts the answer.

Handlers are thin: their data is computed in `analysis` or by `shardlint.api`, and converted by pure
functions.
"""
