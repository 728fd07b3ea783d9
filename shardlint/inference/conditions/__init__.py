"""Conditions of branches: variables narrowed by a test on the branch where it holds (`narrowing`), and
modules that tests replace (`mocked_modules`). `machine.condition_ids` knows which tests have the same
outcome."""
