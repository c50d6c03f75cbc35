"""The screens of ``seraph ask`` in a notebook, as a widget: the same page, session and file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_array

from ... import Marks
from ..._marks._rows import Rows, is_frame, is_table
from ..._utils._public import publish
from ..._utils._typing import Array

# The page needs packages that `from seraph import *` must not: they are imported below.
if TYPE_CHECKING:
    from anywidget import AnyWidget

    from ._things import RowThings
else:
    try:
        from anywidget import AnyWidget
    except ImportError:  # AskWidget says so
        AnyWidget = object


class AskWidget(AnyWidget):
    """Ask which rows are the same, in a notebook, and learn the distance meanwhile.

    It shows the screens of ``seraph ask``: eight rows at a time, to tap those that are the same as
    the first. Beside them are a map and how good the learned distance is. `marks` has the answers
    so far, for the next cell. The widget needs ``pip install 'seraph-learn[notebook]'``, and works
    where anywidget does: in JupyterLab, Jupyter Notebook, VS Code and marimo.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points, scaled as :class:`seraph.MeanMetric` wants them.
    show : DataFrame or list of n_samples paths or texts, optional
        What to show for each row: cells of a table; or files of pictures, sounds or texts; or
        texts. None shows X.
    path : path-like, optional
        Keep the answers in this ``.csv``: every screen is in the file before the next one shows,
        and an existing file goes on where it stopped. ``seraph fit --pairs`` reads it, too. None
        keeps them in memory.
    classes : list of str, optional
        Ask for the class of each row: names to choose from. More can be added while you answer.
    sort : bool, default=False
        Ask for groups of rows, not only for those like the first.
    question : str, default=""
        Ask this, instead of which are the same.
    random_state : int, default=0
        Seed of the choice of rows.

    Attributes
    ----------
    marks : Marks
        The pairs that were answered, for ``fit(X, marks=ask.marks)``.
    labels : ndarray of shape (n_samples,)
        With `classes`, the name of each row, None where it has none yet: ``fit(X, ask.labels)``.
    verdict : str
        Which distance is better, the learned or the Euclidean one; empty after few answers.

    Examples
    --------
    >>> from seraph import AskWidget, MeanMetric
    >>> from sklearn.datasets import load_iris
    >>> X, species = load_iris(return_X_y=True, as_frame=True)
    >>> ask = AskWidget(X)
    >>> ask
    AskWidget(150 rows: 0 screens)

    In a notebook this shows the widget. After some screens, in the next cell:

    >>> ask.marks
    Marks(150 rows: 0 similar, 0 dissimilar)
    >>> if len(ask.marks.pairs):
    ...     learner = MeanMetric().fit(X, marks=ask.marks)
    >>> ask.close()
    """

    _esm = (files("seraph._apps.ask") / "static" / "widget.js").read_text(encoding="utf-8")

    def __init__(
        self,
        X: Any,
        *,
        show: Any = None,
        path: str | Path | None = None,
        classes: Sequence[str] | None = None,
        sort: bool = False,
        question: str = "",
        random_state: int = 0,
    ) -> None:
        if AnyWidget is object:
            raise ImportError("AskWidget needs anywidget: pip install 'seraph-learn[notebook]'.")
        from ._answers import AnswerFile
        from ._session import Session, Setting, check_class

        if classes is not None and sort:
            raise ValueError("sort has no meaning with classes: leave one of them out.")
        self._rows = Rows.of(X)
        points = check_array(X, dtype=np.float32)
        ids = [str(name) for name in self._rows.name_rows(np.arange(len(points))).tolist()]
        setting = Setting(
            _things(X if show is None else show, ids),
            "Answers in memory" if path is None else Path(path).name,
            points,
            classes=None if classes is None else tuple(map(check_class, classes)),
            sort=sort,
            seed=random_state,
            question=question,
        )
        self._folder = TemporaryDirectory() if path is None else None
        file = Path(path or f"{self._folder and self._folder.name}/answers.csv")
        self._session = Session(setting, AnswerFile(file, ids, classes=classes is not None))
        super().__init__()
        self.on_msg(lambda _, message, __: self._reply(message))

    def __repr__(self) -> str:
        return f"AskWidget({self._rows.n} rows: {self._session.n_answers} screens)"

    @property
    def marks(self) -> Marks:
        """The pairs that were answered."""
        from ._screens import answered

        answers = self._session.file.answers
        if self._session.setting.classes is not None:  # the pairs within each screen
            answers = [a for q in answered(answers) for a in q.answers(q.given, q.number)]
        pairs = np.array([answer.rows for answer in answers], dtype=np.intp).reshape(-1, 2)
        columns: dict[str, Any] = {
            **dict(zip("ij", pairs.T, strict=True)),
            "similar": [answer.value for answer in answers],
            "screen": [answer.screen for answer in answers],
            "chance": [answer.chance for answer in answers],
        }
        if self._rows.names is not None:
            columns |= {f"id_{end}": self._rows.name_rows(columns[end]) for end in "ij"}
            return Marks.from_frame(columns, rows=self._rows.names)
        return Marks.from_frame(columns, rows=self._rows.n)

    @property
    def labels(self) -> Array:
        """The class of each row, None where it is not known."""
        labels = np.full(self._rows.n, None, dtype=object)
        for answer in self._session.file.answers:
            if len(answer.rows) == 1:
                labels[answer.rows[0]] = answer.value
        return labels

    @property
    def verdict(self) -> str:
        """Which distance is better."""
        return self._session.learning.verdict

    def close(self) -> None:
        """End the session, and take the widget away; a file of answers stays."""
        if hasattr(self, "_session"):  # else it was never open
            self._session.close()
            if self._folder is not None:
                self._folder.cleanup()
        super().close()

    def _reply(self, message: Mapping[str, Any]) -> None:
        """Answer a request of the page."""
        from ._page import page_of
        from ._session import Refused

        path, sent = message["path"], message.get("body")
        reply: dict[str, Any] = {"id": message["id"]}
        data: list[bytes] = []
        try:
            if path == "page":
                reply["value"] = page_of(self._session, whole=True)
            elif path.startswith(("image/", "sound/")):
                made = self._session.setting.things.media(path)
                if made is not None:
                    reply["value"], data = made[1], [made[0]]
            elif sent is None:
                reply["value"] = self._session.look(path)
            else:
                reply["value"] = self._session.change(path, sent)
        except Refused as error:
            reply["problem"] = str(error)
        self.send(reply, data)


def _things(show: Any, ids: Sequence[str]) -> RowThings:
    """Return what to show for each row: cells, files or texts."""
    if len(show) != len(ids):
        raise ValueError(f"show has {len(show)} rows, and X has {len(ids)}: pass one for each.")
    import pandas as pd

    from ...tables._table import as_table
    from ._things import KINDS, Column, Files, RowThings

    if is_table(show):
        table = as_table(show if is_frame(show) else pd.DataFrame(show))
        return RowThings(ids, {name: Column(name, [table]) for name in table.names})
    if all(isinstance(item, Path) or Path(item).suffix.lower() in KINDS for item in show):
        return RowThings(ids, {}, Files(map(Path, show)))
    return RowThings(ids, {"text": [*map(str, show)]})


publish(globals(), "seraph", ["AskWidget"])
