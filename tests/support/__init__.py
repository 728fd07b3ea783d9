"""What tests of several folders share: program documents, JAX's stored answers, which tests are fast.

Importing it sets the environment of the tests and of the processes that they start, which JAX and shardlint
read once.
"""

import os
from importlib.metadata import version

os.environ["JAX_PLATFORMS"] = "cpu"
# The oracle's release is the one that is judged, unless a test names another.
os.environ["SHARDLINT_JAX"] = version("jax")
# What JAX accepts is decided before machine code is made: what matters of that is how long making it takes.
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
_FLAGS = ["--xla_force_host_platform_device_count=8"]
if version("jaxlib").startswith("0.10."):
    # With it, compiling takes two and a half times as long; others have no such flag.
    _FLAGS.append("--xla_cpu_use_fusion_emitters=false")
os.environ["XLA_FLAGS"] = " ".join(_FLAGS)
# If JAX_COMPILATION_CACHE_DIR is set, all that is compiled is kept there.
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
# Where the environment forbids to keep compiled modules, each process that tests start compiles all of ours.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
