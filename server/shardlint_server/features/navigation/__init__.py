"""From a name to its places: definitions, uses, and renaming of axes; meshes as types and symbols."""
