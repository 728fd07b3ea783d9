"""The price of a program: what XLA makes of it, told at its lines.

`runs.compile_file` runs a fixture in a process of its own (`worker`), in which XLA writes the modules that
it compiles to a folder. `programs` reads them: `hlo` parses their text, `collectives` finds what is sent over
which axes (`meshes`) and how often (`loops`), `memory` what each device holds, and `source_lines` which line
of the user's is behind it. `values` has the results.
"""
