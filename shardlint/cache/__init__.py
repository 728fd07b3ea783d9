"""Results on disk, so that an unchanged project need not be analysed again.

`store` is a SQLite file; `inference_results` stores the uses of one source, and `validation` compares the
file system with its recorded state. `codec` writes values as JSON and reads them back: data only, and only
instances of the classes that it lists, whoever wrote the file. `tool_digest` identifies the version of
shardlint and its libraries, on which all results depend.

A result that cannot be read or validated is computed again; the cache never makes a run fail.
"""
