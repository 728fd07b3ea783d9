"""Programs: modules are loaded and run once, then every function that nothing reached is an entry point.

Enter by `program.analyze`, or `session.Resumable` for a program that stays and is analysed again after
edits. `module_loader` finds and runs modules, `import_graph` and `reverse_imports` say what imports what,
`reachability` and `relevance` which functions can meet a sharding at all: the others are not evaluated.
"""
