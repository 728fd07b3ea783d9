"""Finding files, and reading them.

`discovery.discover` turns paths into files, by `gitignore` patterns and the configured excludes; `prefilter`
drops irrelevant texts; `module_paths` finds the file of a module. All reads of the file system go through
`file_access`, which records them, so that a cached result can be validated later, and which sees the texts
that an editor has open.
"""
