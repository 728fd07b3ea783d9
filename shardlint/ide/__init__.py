"""Editor features besides findings. Enter by `session`, which the facade exports as `editing`.

`analysis` is the analysis of one source for an editor. `hover_facts` has the facts at a position,
`axis_index` the occurrences of an axis name in a project, `axis_completion` the names to complete in a
string, `outline` the symbols of a file, `word_completion` the words of comments and configurations,
`layout_page` a page about a line. The server in `server/` turns these into protocol types.
"""
