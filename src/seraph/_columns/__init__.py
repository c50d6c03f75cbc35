"""The transformer of untidy tables; what it is made of is in ``_utils/_columns``."""
