"""Tests as their frameworks run them: cases, fixtures, and what is set up before. Enter at `runner.Tests`."""
