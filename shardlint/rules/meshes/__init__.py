"""Rules SHL4xx: making meshes, and setting them."""
