"""Changes of a program between two releases of JAX: `comparison` finds them, `text` writes them.

The program is judged on the newer release and on the older one; what only the newer one finds is a change.
The tables of `laws.versions` tell the release of a change of a name, and a search that of any other.
"""
