"""`flax.nnx`: modules, variables, random streams, split and merge, transforms over objects, layers and
optimizers.
"""
