"""Laws of constructing meshes (`construction`: `Mesh`, `make_mesh`, hybrid meshes) and of the contexts
that set one (`contexts`: `set_mesh`, `use_abstract_mesh`, ``with mesh:``).

Enter by the `judge_` functions; each is named after the API that it describes.
"""
