"""Rules on jitted functions: their options, their arguments, and where these lie."""
