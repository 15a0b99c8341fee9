# Two commands matter: `make up` shows a live overlay, `make test` runs every test. Both set up what is missing.

.DEFAULT_GOAL := help
.PHONY: help setup up check test test-all bench docs lock browser clean
SHELL := /bin/sh

# The newest Python found, 3.11 or later; PYTHON=... overrides.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
# uv where it is found, otherwise the one that set-up puts into the virtual environment.
UV := $(or $(shell command -v uv 2>/dev/null),$(BIN)/uv)
UP_OPTIONS ?= --demo autoware
# Each process of the tests has a Neo4j of its own: two fit a small machine, and more find little to share.
IN_PROCESSES ?= -n 2 --no-loadscope-reorder

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-10s %s\n", $$1, $$2}'

setup: $(VENV)/installed  ## make .venv and install what requirements.lock names

$(VENV)/installed: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "TopicWeave needs Python 3.11 or newer; none was found (PYTHON=... names one)"; exit 1; }
	@test -x $(BIN)/python || { echo "Making the virtual environment $(VENV) with $(PYTHON)"; $(PYTHON) -m venv $(VENV); }
	@test -x "$(UV)" || { echo "Fetching uv into $(VENV)"; $(BIN)/pip install --quiet --disable-pip-version-check "$$(sed -n 's/^\(uv==[^ ]*\).*/\1/p' requirements.lock)"; }
	@echo "Installing the packages of requirements.lock into $(VENV) (about 1.6 GB the first time)"
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) pip sync --require-hashes --compile-bytecode requirements.lock
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

up: setup  ## the whole system with a demo overlay; Ctrl-C stops it
	@exec $(BIN)/topicweave up $(UP_OPTIONS)

check: setup  ## ruff, ruff format, mypy --strict, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check browser  ## every test that a change must pass
	$(BIN)/pytest $(IN_PROCESSES) -m "not long"

test-all: check browser  ## the same, and the long fault, scale and second-master runs
	$(BIN)/pytest $(IN_PROCESSES)

browser: setup
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 || sh tests/install-browser.sh

bench: setup  ## the figures we claim, one table a subject
	$(BIN)/python -m benchmarks

docs: setup  ## the documents as a site, in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lock: setup  ## resolve the dependencies of pyproject.toml anew
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) pip compile --quiet --universal --generate-hashes --no-header --no-annotate --upgrade --extra dev pyproject.toml --output-file requirements.lock

clean:  ## remove the virtual environment and caches of tools in this directory
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
