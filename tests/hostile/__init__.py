"""Inputs that are meant to break something, and what must hold of every one."""
