"""`numpy`: its functions, with integers folded exactly, since programs compute sizes with them; and its
type objects.
"""
