"""Rules SHL6xx: memory spent on copies, unused axes, tables that match nothing."""
