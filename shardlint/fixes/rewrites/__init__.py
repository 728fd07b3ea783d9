"""Rewrites: from a finding to its fix.

A rule's ``fix`` takes a `fix_request.FixRequest`, which holds the finding and its program, and returns a fix,
or raises `CannotFix` if the text has another form than it knows. Rules share what is here; `rules.fixes`
calls them. These modules are loaded with the first finding that needs one.
"""
