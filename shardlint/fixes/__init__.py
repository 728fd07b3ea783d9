"""Changing files so that every other byte stays.

`rewrites` turns a finding into a fix; `text_edits` says which edits go together and applies them;
`documents` and `open_documents` are files and editor buffers that can be changed, `notebook_json` edits a
cell inside its JSON. `fixpoint.fix_all` fixes and checks again until nothing is left, and writes only what
got better. `ignore_comments` inserts comments that silence findings.

A fix that cannot be made safely is not made (`CannotFix`).
"""
