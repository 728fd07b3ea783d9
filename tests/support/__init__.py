"""What tests of several folders share: program documents, JAX's stored answers, which tests are fast.

Importing it sets the environment of the tests and of the processes that they start, which JAX and shardlint
read once.
"""

import os
from importlib.metadata import version

os.environ["JAX_PLATFORMS"] = "cpu"
# The oracle's release is the one that is judged, unless a test names another.
os.environ["SHARDLINT_JAX"] = version("jax")
# What JAX accepts is decided before machine code is made; that this is slow is no matter, made fast it is.
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
# Where the environment forbids to keep compiled modules, each process that tests start compiles all of ours.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
