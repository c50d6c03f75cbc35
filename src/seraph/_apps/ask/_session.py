"""A session: the questions, the answers on disk, and a model that learns in the background.

Requests only touch lists under a lock and the answers file; whatever takes longer happens in the
worker thread::

    answer -> file -> next question          (request)
           -> refit -> picture, questions    (worker, every few answers)
"""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils._typing import Array
from ._answers import Answer, AnswerFile
from ._finish import Finish
from ._learning import Labels, Learning
from ._questions import (
    FIRST_TESTS,
    TEST_EVERY,
    Known,
    PairQuestions,
    Question,
    RowQuestions,
)
from ._records import RecordLearning, RecordQuestions, Records
from ._things import RowThings

# Learn again after this many answers.
_REFIT_EVERY = 4
# Questions kept ready, and how many of them the browser may have loaded already.
_READY, _LOADED = 5, 3
# Past answers that the page lists, and those that look wrong.
_LISTED, _MOST_ODD = 200, 20
# What the page calls an answer; a class has its own name.
_WORDS: dict[bool | str | None, str] = {True: "same", False: "different", None: "unsure"}


class Refused(ValueError):
    """A request that cannot be met; its text is shown to the person."""


@dataclass(frozen=True)
class Setting:
    """What a session is about."""

    things: RowThings  # what is shown for each row
    title: str
    points: Array | Records  # all points, scaled; or the records that may be duplicates
    classes: tuple[str, ...] | None = None  # to choose from; None to ask about pairs
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


class Session:
    """The state behind the page. All methods may be called from any thread."""

    def __init__(self, setting: Setting, file: AnswerFile, finish: Finish) -> None:
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
        self._questions: PairQuestions | RowQuestions | RecordQuestions
        rng = np.random.default_rng([setting.seed, len(file.answers)])
        if isinstance(setting.points, Records):
            self.learning = RecordLearning(setting.points)
            self._questions = RecordQuestions(setting.points, np.flatnonzero(shown), rng)
        else:
            self.learning = Learning(setting.points, setting.seed)
            kind = PairQuestions if setting.classes is None else RowQuestions
            self._questions = kind(self.learning, np.flatnonzero(shown), rng)
        self._pool: deque[Question] = deque()
        self._queue: deque[Question] = deque()
        self._reviewed: set[tuple[int, ...]] = set()  # rows of questions that were asked again
        self._fitted: list[Answer] | None = None  # the answers that the model has learned from
        self._picture = self.learning.picture(file.answers)
        self._version = 0
        self._busy = self._closed = False
        self._failure = ""
        self._odd: list[tuple[int, ...]] = []  # rows of answers that look wrong
        # A plain lock would do for requests; the condition also wakes the worker.
        self._lock = threading.Condition()
        self._top_up()
        self._worker = threading.Thread(target=self._work, name="seraph-refit", daemon=True)
        self._worker.start()

    # Requests

    def state(self) -> dict[str, Any]:
        """Return all that the page shows, for JSON."""
        with self._lock:
            self._top_up()  # a file may have turned out to be unreadable
            ready = [self._card(question) for question in list(self._queue)[:_LOADED]]
            advice = self.learning.advice(self.file.answers, left=bool(self._queue))
            return {
                "question": ready[0] if ready else None,
                "upcoming": ready[1:],
                "counts": self._counts(),
                "classes": self._classes(),
                "learning": {
                    "judgments": self.learning.judgments,
                    "verdict": self.learning.verdict,
                    "advice": self._failure or advice.text,
                    "stop": advice.stop and not self._failure,
                    "doubts": self._doubted(),
                },
                "finish": self.finish_state(),
                "version": self._version,
            }

    def finish_state(self) -> dict[str, Any]:
        """Return how far the model and the report are, for JSON."""
        return self.finish.state(self._stamp())

    def answer(self, key: str, value: str) -> bool:
        """Write an answer to the disk and move to the next question.

        Returns False if the question is not the current one: another tab has answered it.
        Raises OSError if the answer could not be written; the question stays then.
        """
        with self._lock:
            if not self._queue or self._queue[0].key != key:
                return False
            question = self._queue[0]
            self.file.add(self._read(question, value))
            if question.again:
                self._reviewed.add(question.rows)
            self._queue.popleft()
            self._top_up()
            self._lock.notify_all()
            return True

    def undo(self, answers: int) -> bool:
        """Take the last answer back and ask again, if there are so many `answers`."""
        with self._lock:
            undone = self.file.undo() if len(self.file.answers) == answers else None
            if undone is None:
                return False
            self._reviewed.discard(undone.rows)
            again = any(answer.rows == undone.rows for answer in self.file.answers)
            self._queue.appendleft(Question(undone.rows, undone.weight, again=again))
            self._lock.notify_all()
            return True

    def again(self, keys: Sequence[str]) -> None:
        """Ask answered questions again, next; the new answers replace the old ones."""
        with self._lock:
            answered = {Question(a.rows).key: a for a in self.file.answers}
            if not keys or not set(keys) <= set(answered):
                raise Refused("Only a question that has an answer can be asked again.")
            answers = [answered[key] for key in keys[:_MOST_ODD]]
            questions = [Question(a.rows, a.weight, again=True) for a in answers]
            self._queue.extendleft(q for q in questions[::-1] if q not in self._queue)

    def answers(self) -> list[dict[str, Any]]:
        """Return the latest answers, newest first, for JSON."""
        with self._lock:
            return [
                {
                    **self._card(Question(answer.rows)),
                    "value": _WORDS.get(answer.value, answer.value),
                    "test": answer.weight is not None,
                }
                for answer in self.file.answers[: -_LISTED - 1 : -1]
            ]

    def picture(self) -> dict[str, Any]:
        """Return the points before and after, for JSON."""
        with self._lock:
            return {**self._picture, "version": self._version}

    def end(self) -> None:
        """Make the model and the report from all answers, in the background."""
        with self._lock:
            if not all(Labels.of(self.file.answers).kinds):
                raise Refused(
                    "There must be at least one pair that is the same and one that is different."
                    if self.setting.classes is None
                    else "A distance needs rows of two classes, and two rows of one of them."
                )
            if self._fitted != self.file.answers:
                self._fitted = None  # so that the verdict knows all answers
            self._lock.notify_all()
            self.finish.start(self._stamp())

    def close(self) -> None:
        """End the worker, and whatever makes the model."""
        with self._lock:
            self._closed = True
            self._lock.notify_all()
        self.finish.close()
        self._worker.join(10.0)  # a long refit may go on, but nobody waits for it

    def wait(self, timeout: float = 120.0) -> bool:
        """Wait until the model has learned from the latest answers; for tests and scripts."""
        with self._lock:
            return self._lock.wait_for(lambda: not (self._busy or self._due()), timeout)

    # Helpers; the lock is held

    def _stamp(self) -> int:
        """Return a number that changes with the answers."""
        return hash(tuple(self.file.answers))

    def _read(self, question: Question, value: str) -> Answer:
        meaning: dict[str, Any] = {word: meant for meant, word in _WORDS.items()}
        if self.setting.classes is not None:
            meaning = {"unsure": None}
            if value.startswith("class:"):
                meaning[value] = check_class(value.removeprefix("class:"))
        if value not in meaning:
            words = "same, different" if self.setting.classes is None else "a class"
            raise Refused(f"An answer is {words} or unsure; got {value[:40]!r}.")
        return Answer(question.rows, meaning[value], question.weight)

    def _classes(self) -> list[str]:
        """Return the names to choose from, also those that were added on the page."""
        named = (a.value for a in self.file.answers if isinstance(a.value, str))
        return list(dict.fromkeys([*(self.setting.classes or ()), *named]))

    def _top_up(self) -> None:
        """Fill the queue: every other question for the test, the others by the model."""
        known = {answer.rows for answer in self.file.answers}
        self._queue = deque(
            q for q in self._queue if (q.again or q.rows not in known) and self._can_be_shown(q)
        )
        known |= {question.rows for question in self._queue}
        while len(self._queue) < _READY:
            question = self._next(known)
            if question is None:
                return
            known.add(question.rows)
            if self._can_be_shown(question):
                self._queue.append(question)

    def _next(self, known: Known) -> Question | None:
        """Return a new question; None if nothing is left."""
        question = None
        number = len(self.file.answers) + sum(not q.again for q in self._queue)
        if number % TEST_EVERY == 1:
            tests = Labels.of([a for a in self.file.answers if a.weight is not None]).same
            rare = len(tests) >= FIRST_TESTS and not any(tests[:FIRST_TESTS])
            question = self._questions.test(known, near=rare)
        while question is None and self._pool:
            candidate = self._pool.popleft()
            if candidate.rows not in known:
                question = candidate
        return question or self._questions.plain(known)

    def _can_be_shown(self, question: Question) -> bool:
        """Return False once a file of the question has turned out to be unreadable."""
        return all(map(self.setting.things.shown, question.rows))

    def _card(self, question: Question) -> dict[str, Any]:
        things = [self.setting.things.card(row) for row in question.rows]
        return {"key": question.key, "things": things, "again": question.again}

    def _counts(self) -> dict[str, Any]:
        values = [answer.value for answer in self.file.answers]
        kinds = {"same": values.count(True), "different": values.count(False)}
        if self.setting.classes is not None:
            kinds = {name: values.count(name) for name in self._classes()}
        return {
            "answers": len(values),
            "tests": sum(answer.weight is not None for answer in self.file.answers),
            "kinds": kinds,
            "unsure": values.count(None),
        }

    def _doubted(self) -> list[dict[str, Any]]:
        """Return the answers to look at once more, for JSON."""
        value = {answer.rows: _WORDS.get(answer.value) for answer in self.file.answers}
        odd = [rows for rows in self._odd if rows in value and rows not in self._reviewed]
        return [{**self._card(Question(rows)), "value": value[rows]} for rows in odd[:_MOST_ODD]]

    # The worker

    def _due(self) -> bool:
        """Return whether to refit: after a few answers, or once those asked again are there."""
        answers, fitted = self.file.answers, self._fitted
        if fitted is None or len(answers) < len(fitted):
            return True
        if answers[: len(fitted)] != fitted:
            return not any(question.again for question in self._queue)
        return len(answers) >= len(fitted) + _REFIT_EVERY

    def _work(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._closed or self._due())
                if self._closed:
                    return
                self._fitted = answers = list(self.file.answers)
                self._busy = True
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the fit at the end warns
                    self._learn(answers)
            except Exception as error:  # a refit that fails must not end the session
                self._failure = f"Learning failed ({error}); your answers are kept."
            finally:
                with self._lock:
                    self._busy = False
                    self._lock.notify_all()

    def _learn(self, answers: Sequence[Answer]) -> None:
        """Refit and choose the next questions, without the lock; then show both."""
        learned = self.learning.refit(answers)
        pool = self._questions.chosen(answers) if learned else []
        odd = self.learning.odd(answers) if learned else []
        picture = self.learning.picture(answers)
        with self._lock:
            self._failure = ""
            self._picture = picture
            self._odd = odd
            self._version += 1
            if learned:
                self._pool = deque(pool)
                ready = enumerate(self._queue)
                self._queue = deque(q for k, q in ready if q.again or k < _LOADED)
                self._top_up()


def check_class(name: str) -> str:
    """Return the name of a class without spaces around it; refuse one that cannot be one."""
    name = name.strip()
    if not name or not name.isprintable():
        raise Refused(f"The name of a class is some text on one line; got {name[:80]!r}.")
    return name
