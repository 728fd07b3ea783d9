"""Tables of other commands than ``check``: coverage, fixtures, statistics."""
