"""Command lines and environment variables, where a program is assumed to be run with its defaults.

What a program is run with is not known. Its defaults are one possibility: with `InferenceSettings.defaults`
the functions in the tables ``DEFAULTS`` of these overlays are followed, and their values remember where they
come from (`model.defaults`). Without it they are functions that no overlay knows.
"""
