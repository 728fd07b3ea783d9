"""Results on disk, so that an unchanged project is checked in no time.

`store` is a SQLite file; `inference_results` keeps what inference found in one source, and `validation`
says whether the file system is still as it was recorded. `codec` writes values as JSON and reads them back:
data only, and only the classes that it lists, whoever wrote the file. `tool_digest` names the version of
shardlint and its libraries, to which all results belong.

A result that cannot be read or validated is computed anew; the cache never makes a run fail.
"""
