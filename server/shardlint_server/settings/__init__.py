"""Settings of the editor (`options`), and the settings in force for each file (`configuration`)."""
