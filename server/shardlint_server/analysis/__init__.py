"""Reports on open documents: computed after a pause in typing, on one worker thread, the most urgent
first.

`analyses` holds the reports, `linting` computes one, `insights` and `project_files` serve the other features,
`publishing` and `refresh_requests` notify the client.
"""
