"""What is written for the user: files that appear whole or not at all, and pages of HTML."""

from ._page import png, render
from ._whole import write_whole

__all__ = ["png", "render", "write_whole"]
