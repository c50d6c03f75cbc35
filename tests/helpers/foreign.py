"""Tables of twelve rows that hold no numbers, though numpy makes numbers of most of them."""

import datetime

import numpy as np
import pandas as pd
import polars as pl

DAYS = np.arange(24).reshape(12, 2).astype("M8[D]")
# Each with what the message says of it.
TYPES = {
    "dates": (DAYS, "datetime64"),
    "durations": (DAYS - DAYS[0, 0], "timedelta64"),
    "bytes": (np.arange(24).reshape(12, 2).astype("S"), "S2"),
    "records": (np.zeros(12, dtype=[("a", float), ("b", float)]), "'a'"),
    "list of bytes": ([[b"1", b"2"]] * 12, "S1"),
    "list of dates": (list(map(list, DAYS)), "datetime64"),
    "objects with bytes": (np.array([[b"1", 2.0]] * 12, dtype=object), "bytes"),
    "objects with dates": (
        np.array([[np.datetime64(5, "D"), 2.0]] * 12, dtype=object),
        "datetime",
    ),
    "objects with durations": (
        np.array([[np.timedelta64(5, "D"), 2.0]] * 12, dtype=object),
        "timedelta64",
    ),
    "python dates": (np.array([[datetime.date(2020, 1, 1)]] * 12, dtype=object), "date"),
    "pandas dates": (pd.DataFrame({"a": 1.0, "when": DAYS[:, 0]}), "column 'when'"),
    "pandas dates alone": (pd.DataFrame(DAYS), "column 0"),
    "pandas durations": (pd.DataFrame({"long": DAYS[:, 0] - DAYS[0, 0]}), "column 'long'"),
    "pandas bytes": (pd.DataFrame({"a": [b"1"] * 12}), "bytes in column 'a'"),
    "pandas arrow dates": (
        pd.DataFrame({"when": pd.Series(DAYS[:, 0]).astype("timestamp[ns][pyarrow]")}),
        "column 'when'",
    ),
    "pandas periods": (pd.DataFrame({"p": pd.period_range("2020", periods=12)}), "Period"),
    "polars dates": (pl.DataFrame({"a": [1.0] * 12, "when": DAYS[:, 0]}), "column 'when'"),
    "polars durations": (pl.DataFrame({"long": [datetime.timedelta(1)] * 12}), "column 'long'"),
    "polars bytes": (pl.DataFrame({"a": [b"1"] * 12}), "column 'a'"),
}
