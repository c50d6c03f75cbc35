"""Atomic writes of files, and HTML pages."""

from ._page import png, render
from ._whole import note_write, save_whole, write_whole

__all__ = ["note_write", "png", "render", "save_whole", "write_whole"]
