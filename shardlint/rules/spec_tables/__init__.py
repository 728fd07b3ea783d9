"""Rules SHL6xx on tables of specs: patterns and names that decide about nothing."""
