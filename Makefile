# `make demo` and `make test` do all of the setup themselves, in .venv. CONTRIBUTING.md explains
# every target.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# Pinned versions, so that a new release of a dependency cannot break the build overnight.
PINS ?= constraints/dev.txt
# Quiet twice: pip's warnings about package indexes are not ours to fix.
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check $(if $(PINS),-c $(PINS))
INSTALL := $(PIP) $(if $(PINS),--build-constraint $(PINS))
# Test processes. Threads inside them would only wait for each other. A file stays in one process,
# so that what its tests share is made once.
JOBS ?= 2
# Measuring the coverage takes a third more time: `make test` leaves it out.
COVERAGE := --cov --cov-report=term:skip-covered
# Compiled files are kept, whatever the shell says: tests start many processes.
PYTEST := PYTHONDONTWRITEBYTECODE= SERAPH_STRICT=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist=loadfile

.PHONY: demo test coverage test-all test-pythons test-newest test-oldest lint format bench table2 docs \
	linkcheck dist lock clean

demo: $(VENV)/.demo
	$(BIN)/python -m seraph demo

test: $(VENV)/.dev lint
	@$(BIN)/python tools/browser.py
	$(PYTEST) -m "not slow"

coverage: $(VENV)/.dev lint
	@$(BIN)/python tools/browser.py
	$(PYTEST) -m "not slow" $(COVERAGE)

test-all: $(VENV)/.dev lint
	@$(BIN)/python tools/browser.py
	HYPOTHESIS_PROFILE=nightly $(PYTEST) $(COVERAGE)

# Every Python from 3.11 on that this machine has, each in its own environment.
test-pythons:
	@for python in $$($(PYTHON) tools/pythons.py); do \
		version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		echo "Python $$version: $$python"; \
		$(MAKE) --no-print-directory test PYTHON=$$python VENV=.venv-$$version || exit 1; \
	done

# All tests on the newest release of everything, instead of the pinned ones: once a week.
test-newest:
	rm -rf .venv-newest
	$(MAKE) --no-print-directory test-all VENV=.venv-newest PINS=

# Exactly the lower bounds that pyproject.toml states.
test-oldest:
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install -qq -c constraints/dev.txt --upgrade pip
	.venv-oldest/bin/python tools/lower_bounds.py > .venv-oldest/bounds.txt
	.venv-oldest/bin/python -m pip install -qq -e ".[all,torch]" --group test \
		-c .venv-oldest/bounds.txt -c constraints/held.txt
	SERAPH_STRICT=1 OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n $(JOBS) --dist=loadfile -m "not slow"

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# First the suite that CI compares with main, once each.
ASV := --config benchmarks/asv/asv.conf.json
bench: $(VENV)/.dev
	$(INSTALL) --group bench
	$(BIN)/asv machine --yes $(ASV)
	$(BIN)/asv run $(ASV) --python=same --quick --dry-run --show-stderr
	$(BIN)/python -m benchmarks.speed

# The paper's tables and figures, 50 samplings, all methods.
table2: $(VENV)/.dev
	$(BIN)/python -m benchmarks.paper fetch
	$(BIN)/python -m benchmarks.paper all --jobs 2 --out reproduced

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html

# Links to other sites. Needs a network.
linkcheck: docs
	$(BIN)/python -m sphinx -q -b linkcheck -d docs/_build/html/.doctrees docs docs/_build/linkcheck

# The wheel and the source archive, in dist/.
dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m hatchling build

# Pin the newest release of everything, for all platforms and Pythons at once.
lock: $(VENV)/.python-$(VERSION)
	$(INSTALL) --group lock
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 \
		--no-annotate --no-emit-index-url --custom-compile-command "make lock" --constraint constraints/held.txt \
		--extra all --extra torch --group dev --group evidence pyproject.toml --output-file constraints/dev.txt

clean:
	rm -rf .venv .venv-* .asv build dist demo.png docs/_build docs/auto_examples docs/generated
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A new environment wherever PYTHON is not the version that the last one was made with.
$(VENV)/.python-$(VERSION):
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) --upgrade pip
	touch $@

$(VENV)/.demo: $(VENV)/.python-$(VERSION) pyproject.toml constraints/dev.txt
	$(INSTALL) -e ".[plot]"
	touch $@

$(VENV)/.dev: $(VENV)/.python-$(VERSION) pyproject.toml constraints/dev.txt
	$(INSTALL) -e ".[all,torch]" --group test --group lint
	touch $@ $(VENV)/.demo

$(VENV)/.docs: $(VENV)/.dev
	$(INSTALL) --group docs
	touch $@
