"""What tests of several folders share: which of them are fast, and what JAX said of fixed programs."""
