"""``python -m shardlint``."""

import sys

from shardlint.cli import main

sys.exit(main())
