"""``python -m shardlint_server`` speaks the language server protocol on stdin and stdout."""

import sys

from shardlint_server.server import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
