"""Rules SHL6xx: arrays that must move between devices."""
