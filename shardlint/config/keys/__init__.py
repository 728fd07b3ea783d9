"""The table of all configuration keys, and the documents generated from it.

`table` has one row a key, with a kind from `value_kinds` that reads and checks its values. `reference` (the
page in docs), `json_schema` and `display` (``shardlint config``) are generated from the table; tests compare
them with the committed files.
"""
