"""`numpy`: its functions, with exact integers, since programs compute sizes with them; and its type
objects."""
