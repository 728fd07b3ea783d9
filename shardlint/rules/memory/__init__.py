"""Rules SHL6xx: memory spent on copies, unused axes, arrays that lie elsewhere than meant."""
