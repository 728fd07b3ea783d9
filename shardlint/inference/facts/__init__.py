"""Facts that users state in comments and annotations, and their requests for inferred ones.

`comment_facts` attaches comments to statements, `annotations` reads jaxtyping, `descriptions` combines a
description with a value, `reveal` answers ``# shardlint: reveal``. A fact fills in unknowns; where it
contradicts the computed value, that is reported, and the computed value is used.
"""
