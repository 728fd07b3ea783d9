"""`jax.lax`: functions and shapes, convolutions, and control flow (`scan`, `cond`, `while_loop`), whose
bodies are called with abstract carries.
"""
