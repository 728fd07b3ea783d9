"""Rules SHL6xx: memory spent on copies, donations and devices that stay idle."""
