"""Changing files: applying edits so that every other byte stays, and the comments that silence findings."""
