# `make` alone prints what there is.
SHELL := bash
.SHELLFLAGS := -o pipefail -c
PYTHON ?= python3
PROFILE ?=

export DO_NOT_TRACK = true
export TORCH_CPP_LOG_LEVEL = ERROR
export OMP_WAIT_POLICY = PASSIVE
export DVC_NO_ANALYTICS = 1
export MLFLOW_DISABLE_TELEMETRY = true
export ORT_DISABLE_TELEMETRY = 1
export PREFECT_SERVER_ANALYTICS_ENABLED = false
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export NO_MKDOCS_2_WARNING = 1
unexport PYTHONDONTWRITEBYTECODE # a run starts Python thirty times: its modules are compiled once

# The scripts of .venv name the folder that it was made in, so that a clone that was moved needs another.
MOVED := $(shell made=$$(sed -n 's/^command = .* -m venv \(--[^ ]* \)*//p' .venv/pyvenv.cfg 2>/dev/null); \
  [ -z "$$made" ] || [ "$$made" -ef .venv ] || { rm -rf .venv && echo yes; })
$(if $(MOVED),$(info the clone was moved: .venv has to be made again))

.PHONY: audit
ifneq ($(filter retrain reproduce,$(MAKECMDGOALS)),)
ifeq ($(shell git rev-parse --quiet --verify HEAD 2>/dev/null),)
$(error this folder is no git repository with a commit, and DVC needs one. Use `git clone`, or make one of a ZIP file's folder: git init --quiet && git add . && git commit --quiet --message=rolecall)
endif
endif

BIN := .venv/bin
READY := .venv/installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help retrain reproduce benchmark check test lint results docs docs-serve constraints

help: ## print this
	@awk -F ':.*## ' '/^[.a-zA-Z_-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  variables: PYTHON=$(PYTHON)  PROFILE=$(PROFILE) ($(basename $(notdir $(wildcard profiles/*.yaml))))"

.venv: $(READY) ## virtual environment with the exact versions of constraints.txt

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 13) else f"Python {v[0]}.{v[1]} found, 3.11 to 3.13 needed: make PYTHON=python3.12 ...")'
	@echo "making .venv (a minute or two, some 230 packages)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --progress-bar off -c constraints.txt -e '.[dev]' | awk \
	  '/^Collecting/ && ++n % 40 == 0 {print "  " n " packages found"} /^Installing/ {print "  installing"} {fflush()}'
	@touch $(READY)

retrain: $(READY) ## train, register and gate a model (PROFILE=esco: on that data set)
	@$(BIN)/rolecall retrain $(if $(PROFILE),--profile $(PROFILE))

reproduce: $(READY) ## Table 3 of Neculoiu et al. 2016, every mix (PROFILE=paper: with its network)
	@$(BIN)/rolecall reproduce $(if $(PROFILE),--profile $(PROFILE))

benchmark: $(READY) ## measure the registered champion as served: results/product.csv
	@$(BIN)/python -m benchmarks.product $(if $(PROFILE),--profile $(PROFILE))

lint: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

check: lint ## lint, types, quick unit tests
	$(BIN)/python -m pytest -q -m "not slow and not study and not thorough" -n auto --dist loadfile

test: lint ## lint, types and every test, slow ones and studies' included
	$(BIN)/python -m pytest -q -m "not slow" -n auto --dist loadfile
	$(BIN)/python -m pytest -q -m slow -n 2 --dist loadfile

results: $(READY) ## measure every study whose files are there (hours): results/, docs/results/
	$(BIN)/python -m benchmarks all

docs: $(READY) ## the documentation site, into site/
	$(BIN)/mkdocs build --quiet --strict

docs-serve: $(READY) ## the documentation site at http://127.0.0.1:8001, rebuilt on each change
	$(BIN)/mkdocs serve --dev-addr 127.0.0.1:8001

constraints: ## resolve constraints.txt anew, in a fresh environment
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && $(PYTHON) -m venv $$folder \
	  && $$folder/bin/python -m pip install --quiet -e '.[dev,teacher]' \
	  && { head -2 constraints.txt; $$folder/bin/python -m pip freeze --exclude-editable | sed 's/+[a-z0-9.]*$$//'; } > $$folder/constraints.txt \
	  && mv $$folder/constraints.txt constraints.txt && echo "constraints.txt: $$(grep -c == constraints.txt) versions"

audit: ## look for known vulnerabilities of the pinned packages (network; pip-audit in its own environment)
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && $(PYTHON) -m venv $$folder \
	  && $$folder/bin/python -m pip install --quiet pip-audit==2.10.1 \
	  && $$folder/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict \
	    --progress-spinner off --cache-dir $$folder/cache \
	  || { echo "no clean audit: a package above has a vulnerability, or the advisories at pypi.org did not answer for it"; exit 1; }
