"""Rules SHL6xx: memory that is spent on copies, axes that are not used, tables that match nothing."""
