"""From a finding to its fix: enter by `registry.with_fix`.

`registry.REWRITES` names for each rule the module and the function that makes its fix; those are loaded
with the first finding that needs one. Each function takes a `fix_request.Desk`, with the finding and the
tree that it stands in, and returns a fix, or raises `CannotFix` where the text has another form than it
knows.
"""
