"""``python -m shardlint_server`` speaks the language server protocol on stdin and stdout.

That puts the current folder, which is the workspace, at the front of the path. It goes, unless the server
itself was found there.
"""

import os
import sys

if __name__ == "__main__":
    _home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not getattr(sys.flags, "safe_path", False) and sys.path[0] != _home:  # Python 3.11: -P and -I
        del sys.path[0]

    from shardlint_server.server import main

    sys.exit(main(sys.argv[1:]))
