"""Answers to what editors ask besides findings: enter by `session`, which the facade exports as `editing`.

`analysis` is the analysis of one source as editors ask it. `hover_facts` tells what is known at a position,
`axis_index` where the name of an axis is written in a project, `axis_completion` which names could stand in
a string. The server in `server/` turns these into protocol types.
"""
