"""Stand-ins for other libraries: their names and arguments, over the learners of seraph."""

__all__: list[str] = []
