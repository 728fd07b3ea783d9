"""Rules SHL2xx: a sharding that does not fit the array, the call or its other arguments."""
