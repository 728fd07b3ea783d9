"""The JAX that findings are confirmed by, and the fixtures that were run: processes of their own, and only
by interpreters that have nothing to do with a workspace that is not trusted.
"""
