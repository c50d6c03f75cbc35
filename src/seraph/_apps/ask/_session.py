"""A session: the screens, the answers on disk, and a model that learns in the background.

Requests only touch lists under a lock and the answers file; whatever takes longer happens in the
worker thread::

    answer -> file -> next screen          (request)
           -> refit -> picture, screens    (worker)
"""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from ..._utils._typing import Array
from ._answers import Answer, AnswerFile, Place
from ._finish import Finish
from ._learning import Known, Learning
from ._records import RecordLearning, Records
from ._screens import Question, Value, answered
from ._things import RowThings

# Learn again after this many answers about pairs of records; after every screen otherwise.
_REFIT_EVERY = 4
# Questions kept ready, and how many of them the browser may have loaded already.
_READY, _LOADED = 4, 2
# Seconds without an answer before what was learned is judged.
_PAUSE = 1.0
# Past answers that the page lists, and those that look wrong.
_LISTED, _MOST_ODD = 100, 20


class Refused(ValueError):
    """A request that cannot be met; its text is shown to the person."""


class NotWritten(Refused):
    """An answer that could not be saved."""


@dataclass(frozen=True)
class Setting:
    """What a session is about."""

    things: RowThings  # what is shown for each row
    title: str
    points: Array | Records  # all points, scaled; or the records that may be duplicates
    classes: tuple[str, ...] | None = None  # to choose from; None to ask what is the same
    sort: bool = False  # into groups, rather than only those like the first row
    seed: int = 0
    question: str = ""  # empty for the usual words
    features: Sequence[tuple[str, str]] = ()  # uses of the columns of the table, and the columns

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.things.ids)

    @property
    def duplicates(self) -> bool:
        """Whether the rows are records that may be duplicates."""
        return isinstance(self.points, Records)

    @property
    def mode(self) -> str:
        """What a person does with the rows: "pair", "like", "sort" or "name"."""
        if self.duplicates:
            return "pair"
        return "name" if self.classes is not None else "sort" if self.sort else "like"


class Session:
    """The state behind the page. All methods may be called from any thread."""

    def __init__(self, setting: Setting, file: AnswerFile, finish: Finish | None = None) -> None:
        self.setting = setting
        self.file = file
        self.finish = finish
        shown = np.array([*map(setting.things.shown, range(setting.n_rows))], dtype=bool)
        self.n_missing = int((~shown).sum())
        if shown.sum() < 3:
            raise ValueError(
                f"There is something to show for only {shown.sum()} of {len(shown)} rows: at "
                "least 3 are needed. Files are found by --id: their names below the folder of "
                "--show, with or without suffix."
            )
        self.learning: Learning | RecordLearning
        rows, seed, asked = np.flatnonzero(shown), setting.seed, len(file.answers)
        if isinstance(setting.points, Records):
            rng = np.random.default_rng([seed, asked])
            self.learning = RecordLearning(setting.points, rows, rng)
        else:
            names = setting.classes is not None
            self.learning = Learning(
                setting.points, rows, seed, sort=setting.sort, names=names, asked=asked
            )
        # What the page may change; it sends the arguments as a JSON object.
        self._changes: dict[str, Callable[..., bool | None]] = {
            "answer": self.answer, "undo": self.undo, "again": self.again, "end": self.end
        }  # fmt: skip
        self._queue: deque[Question] = deque()
        self._reviewed: set[str] = set()  # keys of questions that were asked again
        self._past = [question.key for question in self._answered()]  # the last one last
        self._fitted: list[Answer] | None = None  # the answers that the model has learned from
        self._judged: list[Answer] | None = None  # and those that it was judged by
        self._picture = self.learning.picture(file.answers)
        self._version = 0
        self._learns = self._judges = self._closed = False  # what the worker does
        self._failure = ""
        self._odd: list[Place] = []  # questions whose answers look wrong
        # A plain lock would do for requests; the condition also wakes the worker.
        self._lock = threading.Condition()
        self._top_up()
        self._worker = threading.Thread(target=self._work, name="seraph-refit", daemon=True)
        self._worker.start()

    @property
    def n_answers(self) -> int:
        """Number of questions that have an answer."""
        return len(self._past)

    # Requests

    def look(self, name: str) -> Any:
        """Return what the page asks for, for JSON; a KeyError if there is no such thing."""
        kind, _, row = name.partition("/")
        if kind == "thing":
            return self.setting.things.card(int(row))
        return {"state": self.state, "picture": self.picture, "answers": self.answers}[name]()

    def change(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Make a change; return the state after it. Refused if it cannot be made."""
        try:
            made = self._changes[name](**arguments)
        except OSError as error:
            fault = error.strerror or error
            message = f"{self.file.path} was not written ({fault}). Nothing before is lost."
            raise NotWritten(message) from error
        return {**self.state(), "elsewhere": made is False}

    def state(self) -> dict[str, Any]:
        """Return all that the page shows, for JSON."""
        with self._lock:
            self._top_up()  # a file may have turned out to be unreadable
            ready = [self._card(question) for question in list(self._queue)[:_LOADED]]
            advice = self.learning.advice(left=bool(self._queue))
            coming = [thing for card in ready[1:] for thing in card["things"]]
            return {
                "question": ready[0] if ready else None,
                "upcoming": [thing["row"] for thing in coming if thing["kind"] == "image"],
                "counts": self._counts(),
                "classes": self._classes(),
                "learning": {
                    "judgments": self.learning.judgments,
                    "verdict": self.learning.verdict,
                    "advice": self._failure or advice.text,
                    "stop": advice.stop and not self._failure,
                    "doubts": self._doubted(),
                    "busy": self._is_learning(),
                },
                "finish": self.finish and self.finish.state(self._stamp()),
                "version": self._version,
            }

    def answer(self, key: str, values: Sequence[Value]) -> bool:
        """Write what was said of the rows of a question, and move to the next one.

        Returns False if the question is not the current one: another tab has answered it.
        Raises OSError if the answer could not be written; the question stays then.
        """
        with self._lock:
            if not self._queue or self._queue[0].key != key:
                return False
            question = self._queue[0]
            self.file.add(self._read(question, values))
            if question.given:
                self._reviewed.add(key)
            self._past = [*(past for past in self._past if past != key), key]
            self._queue.popleft()
            self._top_up()
            self._lock.notify_all()
            return True

    def undo(self, key: str) -> bool:
        """Ask the question before again, if `key` is shown; its answer stays until the new one."""
        with self._lock:
            front = self._queue[0] if self._queue else None
            if (front.key if front else "") != key:
                return False
            undone = front is not None and front.undone
            before = self._past[: self._past.index(key)] if undone else self._past
            if before:
                if undone:
                    self._queue.popleft()
                (question,) = (q for q in self._answered() if q.key == before[-1])
                self._queue.appendleft(replace(question, undone=True))
            return bool(before)

    def again(self, keys: Sequence[str]) -> None:
        """Ask answered questions again, next; the new answers replace the old ones."""
        with self._lock:
            past = {question.key: question for question in self._answered()}
            if not keys or not set(keys) <= set(past):
                raise Refused("Only a question that has an answer can be asked again.")
            ready = {question.key for question in self._queue}
            new = [past[key] for key in keys[:_MOST_ODD] if key not in ready]
            self._queue.extendleft(new[::-1])

    def answers(self) -> list[dict[str, Any]]:
        """Return the latest answers, newest first, for JSON."""
        with self._lock:
            past = list(self._answered())
            return [self._card(question, brief=True) for question in past[: -_LISTED - 1 : -1]]

    def picture(self) -> dict[str, Any]:
        """Return the points before and after, for JSON."""
        with self._lock:
            return {**self._picture, "version": self._version}

    def end(self) -> None:
        """Make the model and the report from all answers, in the background."""
        with self._lock:
            if not all(Known.of(self.file.answers).kinds):
                raise Refused(
                    "There must be at least one pair that is the same and one that is different."
                    if self.setting.classes is None
                    else "A distance needs rows of two classes, and two rows of one of them."
                )
            if self._fitted != self.file.answers:
                self._fitted = None  # so that the verdict knows all answers
            self._lock.notify_all()
            if self.finish is not None:
                self.finish.start(self._stamp())

    def close(self) -> None:
        """End the worker, and whatever makes the model."""
        with self._lock:
            self._closed = True
            self._lock.notify_all()
        if self.finish is not None:
            self.finish.close()
        self._worker.join(10.0)  # a long refit may go on, but nobody waits for it

    def wait(self, timeout: float = 300.0, *, judged: bool = True) -> bool:
        """Wait until the latest answers are learned from, and judged by; for tests and scripts."""
        with self._lock:
            return self._lock.wait_for(
                lambda: not (self._is_learning() if judged else self._due() or self._learns),
                timeout,
            )

    # Helpers; the lock is held

    def _stamp(self) -> int:
        """Return a number that changes with the answers."""
        return hash(tuple(self.file.answers))

    def _answered(self) -> Iterator[Question]:
        return answered(self.file.answers, sort=self.setting.sort)

    def _read(self, question: Question, values: Sequence[Value]) -> list[Answer]:
        """Return what was said as answers; refuse what this page cannot have sent."""
        mode, number = self.setting.mode, question.number
        if len(values) != len(question.rows):
            raise Refused(f"{len(question.rows)} rows are shown; got {len(values)} answers.")
        if number is None and not question.given and mode != "pair":
            number = 1 + max(
                (a.screen for a in self.file.answers if a.screen is not None), default=0
            )
        if mode == "name":
            names = [check_class(v) if isinstance(v, str) else None for v in values]
            return question.names(names, number)
        kind = str if mode == "sort" else bool
        if not all(value is None or isinstance(value, kind) for value in values) or not values[0]:
            raise Refused("An answer says of each row what it is; the first one is known.")
        return question.answers(values, number)

    def _classes(self) -> list[str]:
        """Return the names to choose from, also those that were added on the page."""
        named = (a.value for a in self.file.answers if isinstance(a.value, str))
        return list(dict.fromkeys([*(self.setting.classes or ()), *named]))

    def _top_up(self) -> None:
        """Fill the queue."""
        known = {tuple(sorted(answer.rows)) for answer in self.file.answers}
        self._queue = deque(
            q for q in self._queue if (q.given or q.is_new(known)) and self._can_be_shown(q)
        )
        known |= {question.rows for question in self._queue}
        for _ in range(_READY * _MOST_ODD):  # files may be unreadable
            if len(self._queue) >= _READY:
                return
            question = self.learning.question(known)
            if question is None:
                return
            if self._can_be_shown(question):
                known.add(question.rows)
                self._queue.append(question)

    def _can_be_shown(self, question: Question) -> bool:
        """Return False once a file of the question has turned out to be unreadable."""
        return all(map(self.setting.things.shown, question.rows))

    def _card(self, question: Question, *, brief: bool = False) -> dict[str, Any]:
        things = [self.setting.things.card(row) for row in question.rows]
        if brief:
            things = [{name: thing[name] for name in ("row", "id", "kind")} for thing in things]
        return {"key": question.key, "things": things, "given": question.given or None}

    def _counts(self) -> dict[str, Any]:
        values = [answer.value for answer in self.file.answers]
        kinds = {"same": values.count(True), "different": values.count(False)}
        if self.setting.classes is not None:
            kinds = {name: values.count(name) for name in self._classes()}
        return {"answers": self.n_answers, "kinds": kinds, "unsure": values.count(None)}

    def _doubted(self) -> list[dict[str, Any]]:
        """Return the questions whose answers look wrong, for JSON."""
        past = {question.place: question for question in self._answered()}
        found = (past[place] for place in self._odd if place in past)
        found = (question for question in found if question.key not in self._reviewed)
        brief = not self.setting.duplicates
        return [self._card(question, brief=brief) for question in islice(found, _MOST_ODD)]

    # The worker

    def _due(self) -> bool:
        """Return whether to refit: after a few answers, or once those asked again are there."""
        answers, fitted = self.file.answers, self._fitted
        if fitted is None or len(answers) < len(fitted):
            return True
        if answers[: len(fitted)] != fitted:
            return not any(question.given for question in self._queue)
        every = _REFIT_EVERY if self.setting.duplicates else 1
        return len(answers) >= len(fitted) + every

    def _is_learning(self) -> bool:
        busy = self._learns or self._judges
        return busy or self._due() or self._judged != self._fitted

    def _work(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._closed or self._is_learning())
                # A judgment takes seconds: it is for a moment when nothing has to be learned.
                self._lock.wait_for(lambda: self._closed or self._due(), _PAUSE)
                if self._closed:
                    return
                self._learns = self._due()
                self._judges = not self._learns
                if self._learns:
                    self._fitted = list(self.file.answers)
                answers = self._fitted or []
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the fit at the end warns
                    (self._learn if self._learns else self._judge)(answers)
            except Exception as error:  # a refit that fails must not end the session
                self._failure = f"Learning failed ({error}); your answers are kept."
            finally:
                with self._lock:
                    if self._judges:
                        self._judged = self._fitted
                    self._learns = self._judges = False
                    self._lock.notify_all()

    def _learn(self, answers: Sequence[Answer]) -> None:
        """Refit, without the lock; then show the picture, and choose the next questions."""
        learned = self.learning.refit(answers)
        picture = self.learning.picture(answers)
        with self._lock:
            self._failure = ""
            self._picture = picture
            self._version += 1
            if learned:
                ready = enumerate(self._queue)
                self._queue = deque(q for k, q in ready if q.given or k < _LOADED)
                self._top_up()

    def _judge(self, answers: Sequence[Answer]) -> None:
        """Judge what was learned, without the lock; then show the verdict."""
        if all(Known.of(answers).kinds):
            self.learning.judge(answers)
        with self._lock:
            self._odd = self.learning.odd()


def check_class(name: str) -> str:
    """Return the name of a class without spaces around it; refuse one that cannot be one."""
    name = name.strip()
    if not name or not name.isprintable():
        raise Refused(f"The name of a class is some text on one line; got {name[:80]!r}.")
    return name
