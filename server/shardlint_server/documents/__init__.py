"""Texts as the protocol has them: open files and notebooks (`documents`), texts that places stand in
(`texts`), edits, and findings and positions as protocol types (`conversion`).
"""
