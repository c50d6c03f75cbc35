"""What is written for the user: files that appear whole or not at all, and pages of HTML."""

from ._page import png, render
from ._whole import note_write, save_whole, write_whole

__all__ = ["note_write", "png", "render", "save_whole", "write_whole"]
