"""Confirmation: the real JAX runs witnesses and fixtures on fake devices, in processes of their own."""
