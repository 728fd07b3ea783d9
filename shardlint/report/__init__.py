"""Reports besides findings, as values: each device's share of a model's parameters, and the number of
calls of sharding APIs that were understood.

Enter by `project.report_paths`, which reads the modules' declarations, by `project.report_init`, which runs a
model's init in the confirming process, or by `api_coverage.coverage`. `output.report` and `output.tables`
write them.
"""
