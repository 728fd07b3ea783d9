"""Test frameworks: marks and fixtures of pytest, cases of absl, methods of test cases, and JAX's own helpers.

Decorators keep what they say of a test on the test itself; `programs/testing` runs the tests by it.
"""
