"""Rules SHL8xx: APIs that other JAX releases lack, or have under another name."""
