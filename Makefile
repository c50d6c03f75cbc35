# `make demo` and `make test` do all of the set-up themselves, in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Processes that the tests run in; threads of theirs would only wait for each other.
JOBS ?= 2
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS)

.PHONY: demo test test-all test-oldest lint format bench table2 docs linkcheck clean

demo: $(VENV)/.demo
	$(BIN)/python -m seraph demo

test: $(VENV)/.dev lint
	$(PYTEST) -m "not slow"

test-all: $(VENV)/.dev lint
	HYPOTHESIS_PROFILE=nightly $(PYTEST)

# The suite on exactly the lower bounds that pyproject.toml states.
test-oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade pip
	.venv-oldest/bin/python tools/lower_bounds.py > .venv-oldest/bounds.txt
	.venv-oldest/bin/python -m pip install --quiet -e ".[test]" -c .venv-oldest/bounds.txt
	OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n $(JOBS) -m "not slow"

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.core
	$(BIN)/python -m benchmarks.sweeps
	$(BIN)/python -m benchmarks.classic
	$(BIN)/python -m benchmarks.choosing_lam

# The paper's tables and figures, 50 samplings, all methods.
table2: $(VENV)/.dev
	$(BIN)/seraph reproduce all --jobs 2 --out reproduced

docs: $(VENV)/.docs
	$(BIN)/python tools/run_pages.py docs/*.md
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html

# The links to other sites; needs a network.
linkcheck: docs
	$(BIN)/python -m sphinx -q -b linkcheck -d docs/_build/html/.doctrees docs docs/_build/linkcheck

clean:
	rm -rf .venv .venv-oldest build dist demo.png docs/_build docs/auto_examples docs/generated
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(PIP) -e ".[plot]"
	touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(PIP) -e ".[dev]"
	touch $@ $(VENV)/.demo

$(VENV)/.docs: $(VENV)/.dev
	$(PIP) -e ".[dev,docs]"
	touch $@
