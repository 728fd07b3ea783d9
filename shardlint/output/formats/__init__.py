"""The formats of ``check --output-format``, each with a function `render`: for people (`full`,
`concise`), for CI (`github`, `gitlab`, `junit`, `sarif`) and for programs (`json`). `registry` names them
and loads one; `fingerprints` identify a finding whose text moves.
"""
