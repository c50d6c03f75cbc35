"""Helpers that depend on no other room."""
