"""Reports beside findings, as values: what each device holds of a model's parameters, and how many calls of
sharding APIs were understood.

Enter by `project.report_paths`, which reads the modules' declarations, by `project.report_init`, which runs
a model's init in the confirming process, or by `api_coverage.coverage`. `output.report` and `output.tables`
write them.
"""
