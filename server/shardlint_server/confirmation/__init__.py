"""The JAX that findings are confirmed by, and the fixtures that were run: processes of their own, and
only by interpreters that are independent of an untrusted workspace.
"""
