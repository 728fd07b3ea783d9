"""Presentation besides diagnostics: hovers in Markdown, and bars of progress."""
