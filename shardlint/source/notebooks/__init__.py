"""Notebooks: their code cells with magics blanked (`cells`), and positions of cell texts in the file's JSON
(`json_positions`).
"""
