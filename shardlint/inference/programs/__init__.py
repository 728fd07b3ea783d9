"""Programs: modules are loaded and run once, then every unreached function is an entry point.

Enter by `program.analyze`, or `session.Resumable` for a program that is retained and analysed again after
edits. `module_loader` finds and runs modules, `worlds` has what each program changed in those that programs
share. `reverse_imports` has the importers of a file, `reachability` and `relevance` the functions that can
involve a sharding: the others are not evaluated.
"""
