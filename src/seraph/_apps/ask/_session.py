"""A session: the questions, the answers on disk, and a model that learns in the background.

Requests only touch lists under a lock and the answers file; whatever takes longer happens in the
worker thread::

    answer -> file -> next question          (request)
           -> refit -> picture, questions    (worker, every few answers)

A session that goes on judges a few models on the way to its answers once more, so that the chart
and the advice know of them.
"""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..._utils._typing import Array
from ._answers import Answer, AnswerFile
from ._doubts import MOST, doubts
from ._finish import Finish
from ._judge import advice
from ._learning import Labels, Learning
from ._questions import (
    FIRST_TESTS,
    TEST_EVERY,
    Known,
    PairQuestions,
    Question,
    Questions,
    RowQuestions,
)
from ._records import RecordQuestions, Records
from ._things import RowThings

# Learn again after so many answers.
_REFIT_EVERY = 4
# Models on the way to the answers of an earlier run that are judged again.
_MOST_PAST = 12
# Questions kept ready, and how many of them the browser may have loaded already.
_READY, _LOADED = 5, 3
# A question that was put off comes back after so many answers.
_LATER = 10
# Past answers that the page lists.
_LISTED = 200
# What the page calls an answer; a class has its own name.
_WORDS: dict[bool | str | None, str] = {True: "same", False: "different", None: "unsure"}
LONGEST_NAME = 60
MOST_CLASSES = 200


class Refused(ValueError):
    """A request that cannot be met; its text is shown to the person."""


@dataclass(frozen=True)
class Setting:
    """What a session is about.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        All points, scaled.
    things : RowThings
        What is shown for each row.
    title : str
        Name of the data.
    classes : tuple of str or None
        Names of the classes to choose from; None to ask about pairs.
    seed : int
        Seed of the samples.
    records : Records or None
        Their neighbors, if the rows are records that may be duplicates.
    question : str
        What to ask; empty for the usual words.
    features : sequence of (str, str)
        Uses of the columns of the table, and the columns.
    """

    X: Array
    things: RowThings
    title: str
    classes: tuple[str, ...] | None = None
    seed: int = 0
    records: Records | None = None
    question: str = ""
    features: Sequence[tuple[str, str]] = ()


class Session:
    """The state behind the page. All methods may be called from any thread.

    Parameters
    ----------
    setting : Setting
        Points and what is shown for them.
    file : AnswerFile
        Answers so far; new ones go there first.
    finish : Finish
        Makes the model and the report at the end.
    """

    def __init__(self, setting: Setting, file: AnswerFile, finish: Finish) -> None:
        self.setting = setting
        self.file = file
        self.finish = finish
        shown = np.array([setting.things.shown(row) for row in range(len(setting.X))], dtype=bool)
        self.n_missing = int((~shown).sum())
        rows = np.flatnonzero(shown)
        if len(rows) < 3:
            raise ValueError(
                f"There is something to show for only {len(rows)} of {len(shown)} rows: at least "
                "3 are needed. Files are found by --id: their names below the folder of --show, "
                "with or without suffix."
            )
        rng = np.random.default_rng([setting.seed, len(file.answers)])
        self._questions = _questions(setting, rows, rng)
        self._learning = Learning(setting.X, setting.seed, setting.records)
        self._classes = list(setting.classes or ())
        self._pool: deque[Question] = deque()
        self._queue: deque[Question] = deque()
        self._later: dict[Question, int] = {}  # and after how many answers it comes back
        self._fitted: list[Answer] | None = None  # the answers that the model has learned from
        self._picture = self._learning.picture(file.answers)
        self._version = 0
        self._busy = False
        self._closed = False
        self._failure = ""
        self._doubts: list[tuple[tuple[int, ...], str]] = []
        # A plain lock would do for requests; the condition also wakes the worker.
        self._lock = threading.Condition()
        for answer in file.answers:
            self._note_class(answer)
            if answer.rows in file.contradicted:
                self._queue.append(Question(answer.rows, answer.weight, again=True))
        self._top_up()
        self._worker = threading.Thread(target=self._work, name="seraph-refit", daemon=True)
        self._worker.start()

    # Requests

    def state(self) -> dict[str, Any]:
        """Return all that the page shows, for JSON."""
        with self._lock:
            self._top_up()  # a file may have turned out to be unreadable
            ready = [self._card(question) for question in list(self._queue)[:_LOADED]]
            return {
                "question": ready[0] if ready else None,
                "upcoming": ready[1:],
                "counts": self._counts(),
                "classes": self._classes if self.setting.classes is not None else None,
                "learning": self._learning_state(),
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
            if not self._can_be_shown(question):
                self._top_up()
                raise Refused("That picture cannot be read, so it is not asked about.")
            answer = self._read(question, value)
            if question.again:
                self.file.replace(answer)
            else:
                self.file.add(answer)
            self._queue.popleft()
            self._note_class(answer)
            self._top_up()
            self._lock.notify_all()
            return True

    def undo(self, n_answers: int) -> bool:
        """Take the last answer back and ask again, if there are `n_answers`."""
        with self._lock:
            undone = self.file.undo() if len(self.file.answers) == n_answers else None
            if undone is None:
                return False
            self._queue.appendleft(Question(undone.rows, undone.weight))
            self._lock.notify_all()
            return True

    def skip(self, key: str) -> bool:
        """Put the current question off; False if another tab has answered it."""
        with self._lock:
            if not self._queue or self._queue[0].key != key:
                return False
            question = self._queue.popleft()
            if not question.again:
                self._later[question] = len(self.file.answers) + _LATER
            self._top_up()
            self._lock.notify_all()
            return True

    def again(self, keys: Sequence[str]) -> None:
        """Ask some answered questions again, next; the new answers replace the old ones."""
        with self._lock:
            answered = {Question(a.rows).key: a for a in self.file.answers}
            if not keys or not set(keys) <= set(answered):
                raise Refused("Only a question that has an answer can be asked again.")
            self._queue.extendleft(self._once_more([answered[key] for key in keys[:MOST]])[::-1])

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

    def neighbors(self, row: int) -> dict[str, Any]:
        """Return the nearest rows of a row before and after learning, for JSON."""
        found = self._learning.neighbors(row)
        card = self.setting.things.card
        return {"row": card(row), **{k: [card(r) for r in rows] for k, rows in found.items()}}

    def end(self) -> None:
        """Make the model and the report from all answers, in the background."""
        with self._lock:
            labels = Labels.of(self.file.answers)
            if not labels.enough:
                raise Refused(
                    "A distance needs at least one pair that is the same and one that is "
                    "different."
                    if self.setting.classes is None
                    else "A distance needs rows of two classes, and two rows of one of them."
                )
            self.finish.start(self._stamp())

    @property
    def learner(self) -> Any:
        """The fitted learner; None before anything was learned."""
        return self._learning.learner

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
        if self.setting.classes is None:
            meaning = {word: meant for meant, word in _WORDS.items()}
            if value not in meaning:
                raise Refused(f"An answer is same, different or unsure; got {value[:40]!r}.")
            return Answer(question.rows, meaning[value], question.weight)
        if value == "unsure":
            return Answer(question.rows, None, question.weight)
        if not value.startswith("class:"):
            raise Refused(f"An answer is a class or unsure; got {value[:40]!r}.")
        name = check_class(value.removeprefix("class:"))
        if name not in self._classes and len(self._classes) >= MOST_CLASSES:
            raise Refused(f"There are {MOST_CLASSES} classes already.")
        return Answer(question.rows, name, question.weight)

    def _note_class(self, answer: Answer) -> None:
        """Offer a class by its name from now on."""
        if isinstance(answer.value, str) and answer.value not in self._classes:
            self._classes.append(answer.value)

    def _top_up(self) -> None:
        """Fill the queue: every other question for the test, the others by the model."""
        known = {answer.rows for answer in self.file.answers}
        self._queue = deque(
            q for q in self._queue if (q.again or q.rows not in known) and self._can_be_shown(q)
        )
        known |= {question.rows for question in (*self._queue, *self._later)}
        while len(self._queue) < _READY:
            question = self._next(known)
            if question is None:
                return
            known.add(question.rows)
            if self._can_be_shown(question):
                self._queue.append(question)

    def _next(self, known: Known) -> Question | None:
        """Return a new question, or one that was put off; None if nothing is left."""
        number = len(self.file.answers) + sum(not q.again for q in self._queue)
        question = next((q for q, count in self._later.items() if count <= number), None)
        if question is None and number % TEST_EVERY == 1:
            tests = Labels.of([a for a in self.file.answers if a.weight is not None]).same
            question = self._questions.test(known, near=is_rare(tests.tolist()))
        while question is None and self._pool:
            candidate = self._pool.popleft()
            if candidate.rows not in known:
                question = candidate
        question = question or self._questions.plain(known) or next(iter(self._later), None)
        if question in self._later:
            del self._later[question]
        return question

    def _once_more(self, answers: Sequence[Answer]) -> list[Question]:
        """Return the questions of answers that do not wait to be asked again already."""
        again = (Question(answer.rows, answer.weight, again=True) for answer in answers)
        return [question for question in again if question not in self._queue]

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
            kinds = {name: values.count(name) for name in self._classes}
        return {
            "answers": len(values),
            "tests": sum(answer.weight is not None for answer in self.file.answers),
            "kinds": kinds,
            "unsure": values.count(None),
        }

    def _learning_state(self) -> dict[str, Any]:
        answers, judgments = self.file.answers, self._learning.judgments
        now = judgments[-1][1] if judgments else None
        said = advice(
            now,
            self._learning.change,
            tests=Labels.of([a for a in answers if a.weight is not None]).kinds,
            kinds=Labels.of(answers).kinds,
            left=bool(self._queue),
        )
        return {
            "judgments": [{**asdict(found), "answers": n} for n, found in judgments],
            "better": now.better if now else "",
            "verdict": now.sentence() if now else "",
            "advice": self._failure or said.text,
            "stop": said.stop and not self._failure,
            "doubts": self._doubted(),
        }

    def _doubted(self) -> list[dict[str, Any]]:
        """Return the answers to look at once more and why, for JSON."""
        said = {answer.rows: answer.value for answer in self.file.answers}
        return [
            {
                **self._card(Question(rows)),
                "value": _WORDS.get(said[rows], said[rows]),
                "why": why,
            }
            for rows, why in self._doubts
            if rows in said
        ]

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
                answers = list(self.file.answers)
                is_first = self._fitted is None
                self._fitted = answers
                self._busy = True
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the fit at the end warns
                    if is_first:
                        self._recall(answers)
                    self._learn(answers)
            except Exception as error:  # a refit that fails must not end the session
                self._failure = f"Learning failed ({error}); your answers are kept."
            finally:
                with self._lock:
                    self._busy = False
                    self._lock.notify_all()

    def _learn(self, answers: Sequence[Answer]) -> None:
        """Refit and choose the next questions, without the lock; then show both."""
        learned = self._learning.refit(answers)
        pool: list[Question] = []
        again: list[tuple[tuple[int, ...], str]] = []
        if learned:
            known = {answer.rows for answer in answers}
            codes = Labels.of([a for a in answers if a.weight is None]).codes
            pool = self._questions.chosen(self._learning.learner, known, codes)
            again = doubts(answers, self._learning.odd(answers))
        picture = self._learning.picture(answers)
        with self._lock:
            self._failure = ""
            self._picture = picture
            self._doubts = again
            self._version += 1
            if learned:
                self._pool = deque(pool)
                self._queue = deque(list(self._queue)[:_LOADED])
                if self.setting.records is not None:  # other doubts are only offered
                    rows = {rows for rows, _ in again}
                    once = [a for a in answers if a.rows in rows and a.times == 1]
                    self._queue.extend(self._once_more(once))
                self._top_up()

    def _recall(self, answers: Sequence[Answer]) -> None:
        """Judge models on the way to the answers of an earlier run."""
        step = max(_REFIT_EVERY, -(-len(answers) // _MOST_PAST))
        for n in range(step, len(answers), step):
            if not self._closed:
                self._learning.refit(answers[:n])


def _questions(setting: Setting, rows: Array, rng: np.random.Generator) -> Questions:
    if setting.classes is not None:
        return RowQuestions(setting.X, rows, rng)
    if setting.records is not None:
        return RecordQuestions(setting.X, rows, rng, setting.records)
    return PairQuestions(setting.X, rows, rng)


def is_rare(tests: Sequence[bool]) -> bool:
    """Return whether pairs that are the same seem to be rare: none of the first tests is one."""
    return len(tests) >= FIRST_TESTS and not any(tests[:FIRST_TESTS])


def check_class(name: str) -> str:
    """Return the name of a class without spaces around it; refuse one that cannot be one."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise Refused(
            f"The name of a class has 1 to {LONGEST_NAME} characters on one line; got "
            f"{name[:80]!r}."
        )
    return name
