# Every target needs only Python 3.11 or newer, make and, for missing system packages, Debian's apt as root.
# A second run of each is quick: the stamp in .venv is older than what it was made from only when that changed.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=

.PHONY: help setup demo test soak check bench format docs lock java clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## make .venv with .venv/bin/webtable

$(READY): pyproject.toml requirements.lock
	@tools/ensure "$(PYTHON) -c 'import ensurepip'" python3 python3-venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "make: Python 3.11 or newer is needed; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "make: installing into $(VENV)" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@# The build backend is in the lock file as well, so that this step downloads nothing of its own choice.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

clean: ## remove .venv and everything that was built
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
