"""``python -m seraph._cli``."""

from . import main

main()
