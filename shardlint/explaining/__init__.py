"""What an editor shows besides findings: what is known at a place, and which texts are names of axes."""
