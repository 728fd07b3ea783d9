"""Rules SHL7xx: Explicit, Auto and Manual axes, and shardings in types."""
