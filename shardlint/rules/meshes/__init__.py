"""Rules SHL4xx: constructing meshes, and setting them."""
