"""``python -m seraph.cli``."""

from . import main

main()
