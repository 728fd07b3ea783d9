"""Findings and tables as text: one module for each format.

Enter by `formats.registry.render`. `tables` has tables of other commands, `report` the parameter report as
HTML, JSON and text, `layout` the picture of ``shardlint layout``. Text from a checked program is untrusted
until `support.media` has escaped it.
"""
