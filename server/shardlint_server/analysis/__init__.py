"""Reports on what is open: made after a pause in typing, on one worker thread, the most urgent first.

`analyses` keeps the reports, `linting` makes one, `insights` and `project_axes` answer what other features
ask of them, `publishing` and `refresh_requests` tell the client.
"""
