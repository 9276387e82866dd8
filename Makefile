# Environments live in .venv (what users install) and .venv-dev (all extras); stamps keep second runs short.
SHELL := /bin/sh
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
# Published data sets for training and benchmarks; see CONTRIBUTING.md for the layout.
DATA ?= ../shared/data
# The encoder that the bundled model starts from, the resumable results of its training, and where it goes.
ENCODER ?= .cache/minilm
RUNS ?= runs/sci
MODELS ?= sciextract/bundled
# The plan of make model: sci-4 is what is bundled; sci-3.1, sci-3, sci-2.1, sci-2 and sci-1 are earlier editions.
PLAN ?= sci-4
# More words for python -m research.models, e.g. MAKE_ARGS="--minutes 10".
MAKE_ARGS ?=
# Tests at a time, and more words for pytest, e.g. PYTEST_ARGS="-k offsets -x".
JOBS ?= 2
PYTEST_ARGS ?=
BENCH_ARGS ?=

USER_ENV := .venv
DEV_ENV := .venv-dev
DOCS_ENV := .venv-docs
CORE_ENV := .venv-core
IN_DEV := export PATH="$(abspath $(DEV_ENV))/bin:$$PATH" PYTHONPATH="$(CURDIR):$(CURDIR)/app:$(CURDIR)/trainer";
PIP_QUIET := --quiet --quiet --disable-pip-version-check --constraint constraints.txt
PACKAGED := $(shell find sciextract app trainer schemas sample_data -type f ! -name '*.pyc')
PYTEST := pytest --quiet --numprocesses $(JOBS) --dist loadgroup
DEMO_OUT := build/demo/abstracts.jsonl

.DEFAULT_GOAL := help
.PHONY: help demo test test-core test-full check format docs model model-base model-bio ladder screenshot bench-annotate bench-text bench-store bench-kills bench-tui bench-fuzz bench-rounds bench-active bench-learning bench-scale bench-training processors pins clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

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

model: $(DEV_ENV)/.installed $(ENCODER)/model.safetensors .cache/mpnet/model.safetensors ## Train the bundled model (DATA=... ENCODER=... RUNS=...); stops and goes on
	@$(IN_DEV) python -m research.models $(PLAN) --encoder minilm=$(ENCODER) --encoder mpnet=.cache/mpnet --data $(DATA) --runs $(RUNS) --output $(MODELS) $(MAKE_ARGS)

model-base: RUNS = runs/sci-base
model-base: $(DEV_ENV)/.installed $(ENCODER)/model.safetensors .cache/mpnet/model.safetensors ## Train the base model and build its wheel (DATA=... RUNS=...); stops and goes on
	@$(IN_DEV) python -m research.models sci-base --encoder minilm=$(ENCODER) --encoder mpnet=.cache/mpnet --data $(DATA) --runs $(RUNS) --output $(RUNS)/models $(MAKE_ARGS)
	@test ! -f $(RUNS)/models/sci-base/manifest.json || { $(IN_DEV) python tools/model_wheel.py models/sci-base $(RUNS)/models/sci-base dist; }

model-bio: RUNS = runs/bio
model-bio: $(DEV_ENV)/.installed $(ENCODER)/model.safetensors ## Train the biomedical model (DATA=... ENCODER=... RUNS=...); stops and goes on
	@$(IN_DEV) python -m research.partial_labels.make_bio --encoder $(ENCODER) --data $(DATA) --runs $(RUNS) --output $(MODELS)/bio

ladder: $(DEV_ENV)/.installed $(ENCODER)/model.safetensors ## Train models of several sizes and measure them (DATA=... RUNS=...); stops and goes on
	@$(IN_DEV) python -m research.models ladder --encoder minilm=$(ENCODER) --data $(DATA) --runs $(RUNS) --output $(RUNS)-ladder $(MAKE_ARGS)
	@$(IN_DEV) python -m research.size_ladder --models $(RUNS)-ladder --texts $(DATA)/scierc/dev.jsonl --output docs/images/ladder $(BENCH_ARGS)

screenshot: $(DEV_ENV)/.installed ## Renew what the docs show: docs/images/, docs/notebook.ipynb, output in README.md and the tutorials
	@$(IN_DEV) python tools/screenshot.py docs/images/annotate.svg
	@$(IN_DEV) python tools/desk_screenshot.py docs/images/desk.svg docs/images/desk-session.svg
	@$(IN_DEV) python tools/graph_page_picture.py docs/images/graph-page.png
	@$(IN_DEV) python tools/real_runs.py
	@$(IN_DEV) python tools/run_notebook.py

bench-annotate: $(DEV_ENV)/.installed ## Measure the speed of annotate (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/annotate.py $(BENCH_ARGS)

bench-text: $(DEV_ENV)/.installed ## Compare tokens and sentences with other libraries (DATA=...)
	@$(IN_DEV) python benchmarks/text_layer.py --data $(DATA) $(BENCH_ARGS)

bench-store: $(DEV_ENV)/.installed ## Measure the project file: import, actions, search, export (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/store.py $(BENCH_ARGS)

bench-kills: $(DEV_ENV)/.installed ## Kill a working process 200 times and look at what is left (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/store_kills.py $(BENCH_ARGS)

bench-tui: $(DEV_ENV)/.installed ## Measure the review desk in real terminals: keys, starts, memory (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/tui.py $(BENCH_ARGS)

bench-fuzz: $(DEV_ENV)/.installed ## Press 50,000 random keys on the whole desk (BENCH_ARGS="--seed 1")
	@$(IN_DEV) python benchmarks/tui_fuzz.py --jobs $(JOBS) $(BENCH_ARGS)

bench-rounds: $(DEV_ENV)/.installed $(ENCODER)/model.safetensors ## Simulate correction rounds on SciERC (DATA=... BENCH_ARGS="...")
	@$(IN_DEV) python -m research.simulations.correction_rounds --data $(DATA) --encoder $(ENCODER) --folder $(RUNS)-rounds $(BENCH_ARGS)

bench-active: $(DEV_ENV)/.installed $(ENCODER)/model.safetensors ## Simulate active learning on SciERC (DATA=... ENCODER=... BENCH_ARGS="...")
	@$(IN_DEV) python -m research.simulations.active_learning --data $(DATA) --encoder $(ENCODER) --folder $(RUNS)-active $(BENCH_ARGS)

bench-learning: $(DEV_ENV)/.installed ## Measure what suggestions learn from 3 to 50 finished abstracts (DATA=... BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/learning.py --data $(DATA) $(BENCH_ARGS)

bench-training: $(DEV_ENV)/.installed ## Measure training on this machine's GPU or processor (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/training_speed.py $(BENCH_ARGS)

processors: $(DEV_ENV)/.installed ## Compare int8 predictions with those of an emulated processor without VNNI (DATA=... BENCH_ARGS="...")
	@$(IN_DEV) python -m research.processors $(DATA)/scierc/dev.jsonl $(BENCH_ARGS)

bench-scale: $(DEV_ENV)/.installed ## Measure many workers, their memory, how cost grows (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/scale.py $(BENCH_ARGS)

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

.cache/minilm/model.safetensors: | $(DEV_ENV)/.installed
	@$(IN_DEV) python tools/fetch_encoder.py .cache/minilm

.cache/mpnet/model.safetensors: | $(DEV_ENV)/.installed
	@$(IN_DEV) python tools/fetch_encoder.py .cache/mpnet mpnet
