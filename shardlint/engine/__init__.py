"""From sources to reports: runs inference, applies rules, and merges their findings.

`analyzer` analyses sources, from the cache, in this process, or in several (`process_pool`); a `work_item` is
one source's job. `releases` and `deployment_merge` merge the findings over JAX releases and configured
meshes, `suppression` applies comments, `baseline` known findings, `check_cache` caches a whole run.
`source_selection` selects the relevant files; `open_programs` retains the programs of files that an editor
has open.
"""
