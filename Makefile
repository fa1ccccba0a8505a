# Everything runs in this project's own virtual environment, made on first use from python3 and the pinned versions.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_TEXT := $(VENV)/.ready-text

# Neighbours share what is prepared once (a played campaign, a browser), so that each worker keeps to its own half.
TWO := -n 2 --dist worksteal
# Tests start the command line as a process some hundred times: without compiled files each reads 800 modules anew.
test test-text test-all: export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test test-text test-all check bench format clean
$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) not found; install Python 3.11 or newer"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

$(READY_TEXT): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,text]'
	touch $@

demo: $(READY)  ## the whole loop on simulated workers, then a report
	$(BIN)/hmc-crowd demo

test: $(READY)  ## the default tests: a few minutes
	$(BIN)/python -m pytest $(TWO) $(PYTEST_ARGS)

test-text: $(READY_TEXT)  ## the tests of encoders and language models, which need torch
	$(BIN)/python -m pytest $(TWO) -m 'text and not slow' $(PYTEST_ARGS)

test-all: $(READY)  ## with the long simulations
	$(BIN)/python -m pytest $(TWO) -m '' $(PYTEST_ARGS)

check: $(READY)  ## style, types, and the import rules of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_house.py

bench: $(READY)  ## the ratios that the README and the docs quote
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt '.[bench]'
	$(BIN)/python -m tests.benchmarks

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist
