"""What each device holds of a project's parameters: `shardlint report`."""
