"""Differential privacy for tables."""
