"""Python itself: builtins, and the parts of the standard library that programs use around shardings."""
