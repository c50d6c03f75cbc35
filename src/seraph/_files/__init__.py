"""What is written for the user: files that appear whole or not at all, and pages of HTML."""

from ._page import png, render
from ._whole import save_whole, write_whole

__all__ = ["png", "render", "save_whole", "write_whole"]
