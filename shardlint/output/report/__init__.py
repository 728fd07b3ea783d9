"""The parameter report as an HTML page (`html`, with `svg` pictures and `style`), as JSON and as text."""
