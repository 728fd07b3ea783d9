"""From files to settings: `loader` finds the nearest configuration of each file and resolves it, `layers`
are the raw values of one file or command line with their positions (`toml_positions`), `jax_requirement`
reads the target from the project's own dependencies, and `logical_axes` the rules of logical axes.
"""
