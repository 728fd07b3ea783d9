"""Post-processing of uses: extra ones for editors (`editor_uses`), axes that the text names elsewhere
(`axis_mentions`), and places as spans, so that uses outlive the syntax trees (`place_resolution`).
"""
