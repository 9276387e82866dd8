# Environments live in .venv (what users install) and .venv-dev (all extras); stamps keep second runs short.
SHELL := /bin/sh
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
# Published data sets for training and benchmarks; see CONTRIBUTING.md for the layout.
DATA ?= ../shared/data
# Tests at a time, and more words for pytest, e.g. PYTEST_ARGS="-k offsets -x".
JOBS ?= 2
PYTEST_ARGS ?=
# The file whose targets `make help` lists.
HELP_OF ?= Makefile

USER_ENV := .venv
DEV_ENV ?= .venv-dev
DOCS_ENV := .venv-docs
CORE_ENV := .venv-core
IN_DEV := export PATH="$(abspath $(DEV_ENV))/bin:$$PATH" PYTHONPATH="$(CURDIR):$(CURDIR)/app:$(CURDIR)/trainer";
PIP_QUIET := --quiet --quiet --disable-pip-version-check --constraint constraints.txt
PACKAGED := $(shell find sciextract app trainer schemas sample_data -type f ! -name '*.pyc')
PYTEST := pytest --quiet --numprocesses $(JOBS) --dist loadgroup
DEMO_OUT := build/demo/abstracts.jsonl

.DEFAULT_GOAL := help
.PHONY: help demo test test-core test-full check format docs screenshot pins clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(HELP_OF)
	@echo "  make help HELP_OF=benchmarks/targets.mk lists measurements, HELP_OF=research/targets.mk builds of models"

demo: $(USER_ENV)/.installed ## Install the package without extras and annotate the sample abstracts
	@tools/demo.sh $(USER_ENV)/bin/sciextract $(DEMO_OUT)

test: $(DEV_ENV)/.installed ## Run the fast tests, some minutes (JOBS=2 PYTEST_ARGS="...")
	@$(IN_DEV) $(PYTEST) -m "not full" --hypothesis-profile=fast $(PYTEST_ARGS)

test-core: $(CORE_ENV)/.installed ## Run the unit tests of the core in an environment without torch (JOBS=2 PYTEST_ARGS="...")
	@export PATH="$(abspath $(CORE_ENV))/bin:$$PATH"; $(PYTEST) -m "not full" --hypothesis-profile=fast tests/unit $(PYTEST_ARGS)

test-full: $(DEV_ENV)/.installed ## Run all tests: servers, kills, all encoders, long properties (JOBS=2 PYTEST_ARGS="...")
	@$(IN_DEV) $(PYTEST) --hypothesis-profile=thorough $(PYTEST_ARGS)

check: $(DEV_ENV)/.installed ## Format, lint, types, layers and generated docs: what must hold before a commit
	@$(IN_DEV) ruff format --check --quiet .
	@$(IN_DEV) ruff check --quiet .
	@$(IN_DEV) mypy --no-error-summary
	@$(IN_DEV) found=$$(lint-imports --no-logo --no-cache 2>&1) || { echo "$$found"; exit 1; }
	@$(IN_DEV) python tools/cli_reference.py --check
	@$(IN_DEV) python tools/keys_reference.py --check

format: $(DEV_ENV)/.installed ## Format the code and apply safe fixes
	@$(IN_DEV) ruff check --quiet --fix .
	@$(IN_DEV) ruff format --quiet .

docs: $(DOCS_ENV)/.installed ## Write docs/cli.md and docs/keys.md from the code and build the site into build/site
	@PYTHONPATH="$(CURDIR)" $(DOCS_ENV)/bin/python tools/cli_reference.py
	@PYTHONPATH="$(CURDIR):$(CURDIR)/app" $(DOCS_ENV)/bin/python tools/keys_reference.py
	@NO_MKDOCS_2_WARNING=1 $(DOCS_ENV)/bin/mkdocs build --quiet
	@echo "build/site/index.html"

screenshot: $(DEV_ENV)/.installed ## Renew what the docs show: docs/images/, docs/notebook.ipynb, output in README.md and the tutorials
	@$(IN_DEV) python tools/screenshot.py docs/images/annotate.svg
	@$(IN_DEV) python tools/desk_screenshot.py docs/images/desk.svg docs/images/desk-session.svg
	@$(IN_DEV) python tools/graph_page_picture.py docs/images/graph-page.png
	@$(IN_DEV) python tools/held_out_picture.py docs/images/held-out.svg
	@$(IN_DEV) python tools/real_runs.py
	@$(IN_DEV) python tools/run_notebook.py

pins: ## Write constraints.txt anew from the newest versions
	@tools/pins.sh "$(PYTHON)" .cache/pins

clean: ## Remove environments, caches and build results; trained runs stay
	@rm -rf $(USER_ENV) $(CORE_ENV) $(DEV_ENV) $(DOCS_ENV) .cache build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

$(USER_ENV)/bin/python:
	@"$(PYTHON)" -m venv $(USER_ENV)

$(CORE_ENV)/bin/python $(DEV_ENV)/bin/python $(DOCS_ENV)/bin/python:
	@"$(PYTHON)" -m venv $(@D)/..

$(USER_ENV)/.installed: pyproject.toml constraints.txt $(PACKAGED) | $(USER_ENV)/bin/python
	@echo "installing sciextract into $(USER_ENV)" >&2
	@$(USER_ENV)/bin/python -m pip install $(PIP_QUIET) .
	@touch $@

$(CORE_ENV)/.installed: pyproject.toml constraints.txt | $(CORE_ENV)/bin/python
	@echo "installing the test environment of the core into $(CORE_ENV)" >&2
	@$(CORE_ENV)/bin/python -m pip install $(PIP_QUIET) --editable '.[formats,pandas,dev]'
	@touch $@

# The site needs no torch.
$(DOCS_ENV)/.installed: pyproject.toml constraints.txt | $(DOCS_ENV)/bin/python
	@echo "installing the documentation tools into $(DOCS_ENV)" >&2
	@$(DOCS_ENV)/bin/python -m pip install $(PIP_QUIET) --editable '.[docs]'
	@touch $@

# The torch version stands on this command line, so that no index offers a larger build of a newer one.
$(DEV_ENV)/.installed: pyproject.toml constraints.txt | $(DEV_ENV)/bin/python
	@echo "installing the test environment into $(DEV_ENV): some minutes, once" >&2
	@$(DEV_ENV)/bin/python -m pip install $(PIP_QUIET) torch==2.13.0 --editable '.[all,bench,dev]'
	@touch $@

include research/targets.mk benchmarks/targets.mk
