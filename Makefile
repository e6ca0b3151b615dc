# Every target needs only Python 3.11 or newer, make and, for missing system packages, Debian's apt as root.
# A second run of each is quick: .venv/.ready is made again only when what it was made from changed.

SHELL := /bin/sh
.DEFAULT_GOAL := help

NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
PYTHON ?= $(or $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
    $$python $(NEW_ENOUGH) 2>/dev/null && echo $$python && break; done),python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# What the compiled forms of the hottest modules are made from, where there is a C compiler.
TYPES := $(wildcard src/webtable/*/_*.pxd src/webtable/*/*/_*.pxd src/webtable/*/*/*/_*.pxd)
COMPILED := $(TYPES) $(subst /_,/,$(TYPES:.pxd=.py)) src/webtable/compiled.py tools/compile_modules.py

# Extra arguments for the program that a target runs: make test ARGS="tests/cli -x"
ARGS ?=

.PHONY: help setup demo test soak check bench format docs dist lock java clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## make .venv with .venv/bin/webtable

demo: setup ## load a small made-up crawl and ask about it
	@tools/demo $(BIN)/webtable build/demo

test: setup java ## the whole suite, on the embedded store and on a real HBase
	@$(BIN)/python -m pytest $(ARGS)

soak: setup java ## the same tests with full numbers and no time limit (hours)
	@WEBTABLE_SOAK=1 $(BIN)/python -m pytest --timeout=0 $(ARGS)

check: setup ## format, lint, types, layers, dependencies, spelling
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/deptry src 2>&1
	@$(BIN)/codespell

bench: setup java ## ratios against RocksDB, SQLite, happybase, Java; writes build/bench.json
	@mkdir -p build
	@$(BIN)/python -m benchmarks $(ARGS)

format: setup ## put the code in its standard form
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .

docs: setup ## write the generated pages of docs/reference again
	@$(BIN)/python -m tools.reference

dist: setup ## build the sdist and the wheels into dist/
	@tools/dist $(BIN)/python dist

lock: setup ## choose the newest versions again and write requirements.lock
	@test -x build/uv/bin/uv || { $(BIN)/python -m venv build/uv && build/uv/bin/pip install --quiet uv; }
	@build/uv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --group dev \
	    --no-annotate --custom-compile-command 'make lock' --output-file requirements.lock pyproject.toml

clean: ## remove .venv and everything that was built
	@rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	@find src -name '_*.so' -delete -o -name '_*.sha256' -delete
	@find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(READY): pyproject.toml requirements.lock $(COMPILED)
	@tools/ensure "$(PYTHON) -c 'import ensurepip'" python3 python3-venv
	@$(PYTHON) $(NEW_ENOUGH) || { echo "make: Python 3.11 or newer is needed, $(PYTHON) is older;" \
	    "name one: make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "make: installing into $(VENV)" >&2
	@$(PIP) --requirement requirements.lock
	@# The build backend is in the lock file too, so that this step chooses and downloads nothing.
	@$(PIP) --no-deps --no-build-isolation --editable .
	@# As pip does for a wheel: a command starts twice as fast, also where Python writes no bytecode.
	@$(BIN)/python -m compileall -q src/webtable
	@touch $@

java:
	@tools/ensure "java -version" openjdk-17-jdk-headless
	@tools/ensure "mvn --version" maven
