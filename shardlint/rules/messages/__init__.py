"""Wording that several rules share: shapes, specs and meshes in a message (`common`), operations
(`operations`), releases (`versions`).
"""
