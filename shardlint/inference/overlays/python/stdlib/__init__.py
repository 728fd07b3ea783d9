"""The standard library, and packages that programs use like it: dataclasses and attrs, enumerations,
`functools`, `itertools`, `re`, JSON and YAML, `unittest.mock`.

Modules are named for their subject. All imports in shardlint are absolute, so `collections` here shadows no
other module.
"""
