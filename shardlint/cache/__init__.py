"""Results on disk: what was found, and what of the file system that came from."""
