"""``python -m shardlint``.

That puts the current folder at the front of the path, where a tree that is checked may hold a `libcst.py`.
It goes, unless shardlint itself was found there.
"""

import os
import sys

_home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if not getattr(sys.flags, "safe_path", False) and sys.path[0] != _home:  # Python 3.11: -P and -I
    del sys.path[0]

from shardlint.cli.commands import main  # noqa: E402

sys.exit(main())
