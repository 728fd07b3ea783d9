"""Facts that users state, in comments and annotations, and what they ask.

`comment_facts` attaches comments to statements, `annotations` reads jaxtyping, `descriptions` meets a
description with a value, `reveal` answers ``# shardlint: reveal``. A fact fills in what is not known; where
it contradicts what is computed, that is a problem of its own, and the computed value stays.
"""
