"""`flax.linen`: modules and how they are run (`module`, `module_runs`), their parameters, layers, cells and
lifted transforms.
"""
