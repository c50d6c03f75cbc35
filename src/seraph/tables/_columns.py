"""What becomes of a column of a table: a record, and its words."""

from __future__ import annotations

from typing import NamedTuple

# Why a column is left out: in words, and the parameter that uses it all the same. Then why numbers
# that are used may be ids.
REASONS = {
    "dates": ("dates", "dates"),
    "distinct text": ("text, different in every row", "onehot"),
    "text": ("text with {} different values", "onehot"),
    "mixed": ("numbers and text, {}", "onehot"),
    "unclear dates": ("dates, and either the day or the month is first", "onehot"),
    "row numbers": ("row numbers", "keep"),
    "unnamed": ("row numbers, without a name", "keep"),
    "in order": ("whole numbers, all distinct and in order", "keep"),
    "id name": ("ids, by its name", "keep"),
    "asked": ("as asked", ""),
    "empty": ("empty", ""),
    "constant": ("the same in every row", ""),
    "type": ("{}", ""),
    "named like ids": ("named like ids", "drop"),
    "nearly distinct": ("whole numbers, nearly all distinct", "drop"),
}
_DATES = {"days": "days since 1970", "parts": "year, season and weekday"}
# What missing cells become.
_FILLED = {
    "median": "filled in by the median",
    "knn": "filled in by the mean of similar rows",
    "own": "a category of its own",
    "rare": "with the rare ones",
}


class Column(NamedTuple):
    """How a column of a table is read and used, or why it is left out; ``str`` says it in words.

    Parameters
    ----------
    use : {"numbers", "dates", "categories", ""}
        What the column holds; "" if it is left out.
    form : str, default="."
        The mark before decimals, or the order of day, month and year.
    unit : str, default=""
        The unit of the numbers, such as "kg".
    words : tuple of str, default=()
        Texts for nothing, beside those that every table may have.
    reason : str, default=""
        Why it is left out, such as "row numbers"; of numbers, why they may be ids.
    detail : str, default=""
        What the reason is about, such as a cell; of dates, "days" or "parts".
    n_missing : int, default=0
        Number of missing cells.
    filled : str, default=""
        What missing cells become: "median", "knn", a category of its "own", or "rare".

    Examples
    --------
    >>> from seraph.tables import Column
    >>> str(Column("numbers", unit="kg", n_missing=2, filled="median"))
    'numbers in kg, 2 missing: filled in by the median'
    >>> print(Column("", reason="row numbers"))
    left out: row numbers
    """

    use: str
    form: str = "."
    unit: str = ""
    words: tuple[str, ...] = ()
    reason: str = ""
    detail: str = ""
    n_missing: int = 0
    filled: str = ""

    def __str__(self) -> str:
        return self.said + (f", {self.n_missing:,} {self.missing}" if self.n_missing else "")

    @property
    def why(self) -> str:
        """Why the column is left out, or why its numbers may be ids, in words."""
        return REASONS[self.reason][0].format(self.detail) if self.reason else ""

    @property
    def said(self) -> str:
        """What the column is used as, in words."""
        if not self.use:
            return f"left out: {self.why}"
        used = self.use + (f": {_DATES[self.detail]}" if self.use == "dates" else "")
        used += f" in {self.unit}" if self.unit else ""
        return used + (f", perhaps ids: {self.why}" if self.reason else "")

    @property
    def missing(self) -> str:
        """What its missing cells become, in words."""
        return f"missing: {_FILLED[self.filled]}" if self.filled else ""
