"""Conditions of branches: variables narrowed by a test on the branch where it holds (`narrowing`), modules
that tests replace (`mocked_modules`), and tests that JAX refuses (`truth_of_tracers`).
`machine.condition_ids` knows which tests have the same outcome."""
