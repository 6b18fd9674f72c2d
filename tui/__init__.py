"""Screens over projections; every change goes through commands."""
