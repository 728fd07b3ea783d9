"""Texts in the protocol's form: open files and notebooks (`documents`), the texts around places
(`texts`), edits, and findings and positions as protocol types (`conversion`).
"""
