"""Conditions of branches: which tests have the same outcome (`condition_ids`), variables narrowed by a test
on the branch where it holds (`narrowing`), and modules that tests replace (`mocked_modules`)."""
