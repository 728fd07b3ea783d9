"""Changes to files that preserve every other byte.

`rewrites` turns a finding into a fix; `text_edits` selects compatible edits and applies them; `documents` and
`open_documents` are editable files and editor buffers, `notebook_json` edits a cell inside its JSON.
`fixpoint.fix_all` fixes and checks again until nothing is left, and never adds an error. `ignore_comments`
inserts comments that ignore findings.

Where a fix is not certainly correct there is none (`CannotFix`).
"""
