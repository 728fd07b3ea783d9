"""Conditions of branches: which tests come out alike (`condition_ids`), what a test tells about variables
on the branch where it holds (`narrowing`), and modules that tests replace (`mocked_modules`).
"""
