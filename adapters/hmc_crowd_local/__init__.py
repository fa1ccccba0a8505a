"""The workplace."""
