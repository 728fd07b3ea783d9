"""Programs: modules are loaded and run once, then every unreached function is an entry point.

Enter by `program.analyze`, or `session.Resumable` for a program that is retained and analysed again after
edits. `module_loader` finds and runs modules, `import_graph` and `reverse_imports` have the imports,
`reachability` and `relevance` the functions that can involve a sharding: the others are not evaluated.
"""
