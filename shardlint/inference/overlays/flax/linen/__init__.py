"""`flax.linen`: modules and their runs (`module`, `module_runs`), their parameters, layers, cells and
lifted transforms.
"""
