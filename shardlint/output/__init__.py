"""Findings and tables as text: a module a format.

Enter by `formats.registry.render`. `tables` has tables of other commands, `report` the parameter report as
HTML, JSON and text, `layout` the picture of ``shardlint layout``. Text that comes from a checked program is
hostile until it has gone through `support.media`.
"""
