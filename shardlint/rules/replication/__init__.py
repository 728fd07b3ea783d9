"""Rules SHL6xx: arrays that are whole on every device, or on one."""
