"""Laws of Flax: logical axes and their rules (`logical_axes.resolve`), and tables of regular expressions
over the paths of parameters (`path_rules.first_match`).
"""
