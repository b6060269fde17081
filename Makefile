# A fresh clone needs only Python 3.11, 3.12 or 3.13 and make. Each target installs what it uses.
# make test PYTHON=python3.13   selects the interpreter. If .venv has another version, it is created again
# make test ARGS="-k softmax"   make demo ARGS="--students 60"   pass arguments to the program that a target runs

.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
# One stamp for each interpreter, so that another interpreter runs .ci/venv again.
STAMP := $(VENV)/.set-up$(subst /,-,$(PYTHON))
ARGS ?=
# As on the command line: for small products, NumPy threads cost more than they gain.
export OPENBLAS_NUM_THREADS = 1
# Without stored bytecode, each of the thousands of processes that the tests start would compile the framework again.
unexport PYTHONDONTWRITEBYTECODE
# Three test processes keep two cores busy while some tests wait. tests/conftest.py distributes the tests.
JOBS ?= 3

.PHONY: help setup test demo lint format lab docs wheel clean

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1@/p' Makefile | awk -F@ '{ printf "%-14s %s\n", $$1, $$2 }'

setup: $(STAMP)  ## create a virtual environment in .venv with everything that the project and its tests use

$(STAMP): pyproject.toml .ci/venv
	@PYTHON="$(PYTHON)" sh .ci/venv $(VENV)
	@touch $@

demo: setup  ## release to a class of simulated students, collect and grade, in a new folder
	@$(BIN)/autograder demo $(ARGS)

test: lint  ## check lint, formatting, spelling and types, and run the whole test suite
	@$(BIN)/python .ci/browser_files.py >/dev/null
	@$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

lint: setup  ## check only lint, formatting, spelling and types
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/codespell *.md autograder benchmarks docs examples packaging solutions source tests
	@$(BIN)/mypy

format: setup  ## format the code
	@$(BIN)/ruff check --fix-only --quiet
	@$(BIN)/ruff format

lab: setup  ## set up the course in your own folder, and open its map in JupyterLab
	@$(BIN)/autograder start $(ARGS)

wheel: setup  ## release the course, and build the sdist and the wheel for students and for instructors in dist
	@$(BIN)/python packaging/build.py $(ARGS)

docs: setup  ## build this documentation as a site in docs/_build/html
	@$(BIN)/python -m sphinx -W --keep-going -n -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html in a browser."

clean:  ## remove the environment, the caches and the demo's files
	rm -rf $(VENV) demo demo-[0-9]* docs/_build build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
