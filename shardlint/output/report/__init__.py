"""How a report of parameters is shown: as text, as JSON, and as a page."""
