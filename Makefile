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
TOOLS := .venv/installed-tools

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help tools retrain reproduce benchmark check test lint results docs docs-serve constraints

help: ## print this
	@awk -F ':.*## ' '/^[.a-zA-Z_-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  variables: PYTHON=$(PYTHON)  PROFILE=$(PROFILE) (sample $(basename $(notdir $(wildcard profiles/*.yaml))))"

# uv takes a fifth of pip's time and accepts no other file than those of hashes.txt. pip does it where uv
# reaches no index, and brings torch, of which an index's default build may be gigabytes larger than that
# of the machine's configuration.
# Modules are compiled when they are first imported: of most packages few ever are.
with_pip = $(BIN)/python -m pip install --quiet --no-compile -c constraints.txt
with_uv = $(BIN)/uv pip install --quiet --no-cache -p $(BIN)/python -c constraints.txt -c hashes.txt
install = $(with_uv) -e '$(1)' 2>.venv/uv.log || { cat .venv/uv.log; ! grep -q 'Hash mismatch' .venv/uv.log \
  && echo "uv could not install; pip goes on, which takes some minutes" && $(with_pip) -e '$(1)'; }

.venv: $(READY) ## virtual environment that runs Rolecall, with the exact versions of constraints.txt

$(READY): pyproject.toml constraints.txt hashes.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 13) else f"Python {v[0]}.{v[1]} found, 3.11 to 3.13 needed: make PYTHON=python3.12 ...")'
	@echo "making .venv: 1. torch (a minute)"
	@$(PYTHON) -m venv .venv
	@$(with_pip) --no-deps uv torch
	@echo "making .venv: 2. some 160 other packages (a minute)"
	@$(call install,.)
	@touch $@

tools: $(TOOLS) ## what lint, tests and docs need besides, in the same environment

$(TOOLS): $(READY)
	@echo "adding some 70 packages for lint, tests and docs (a minute)"
	@$(call install,.[dev])
	@touch $@

retrain: $(READY) ## train, register and gate a model of ESCO (PROFILE=sample: in three minutes)
	@$(BIN)/rolecall retrain $(if $(PROFILE),--profile $(PROFILE))

reproduce: $(READY) ## Table 3 of Neculoiu et al. 2016 on the sample (PROFILE=paper: with its network)
	@$(BIN)/rolecall reproduce $(if $(PROFILE),--profile $(PROFILE))

benchmark: $(READY) ## measure the registered champion as served: results/product.csv
	@$(BIN)/python -m benchmarks.product $(if $(PROFILE),--profile $(PROFILE))

lint: $(TOOLS)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

check: lint ## lint, types, quick unit tests
	$(BIN)/python -m pytest -q -m "not slow and not thorough" -n auto --dist loadfile --ignore=tests/benchmarks --ignore=tests/end_to_end

test: lint ## lint, types and every test, slow ones and studies' included
	$(BIN)/python -m pytest -q -m "not slow" -n auto --dist loadfile
	$(BIN)/python -m pytest -q -m slow -n 2 --dist loadfile --no-loadscope-reorder

results: $(READY) ## measure every study whose files are there (hours): results/, docs/results/
	$(BIN)/python -m benchmarks all

docs: $(TOOLS) ## the documentation site, into site/
	$(BIN)/mkdocs build --quiet --strict

docs-serve: $(TOOLS) ## the documentation site at http://127.0.0.1:8001, rebuilt on each change
	$(BIN)/mkdocs serve --dev-addr 127.0.0.1:8001

constraints: ## resolve constraints.txt and hashes.txt anew, in a fresh environment
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && $(PYTHON) -m venv $$folder \
	  && $$folder/bin/python -m pip install --quiet -e '.[dev,sentence_encoder]' \
	  && { head -2 constraints.txt; $$folder/bin/python -m pip freeze --exclude-editable | sed 's/+[a-z0-9.]*$$//'; } > $$folder/constraints.txt \
	  && mv $$folder/constraints.txt constraints.txt && echo "constraints.txt: $$(grep -c == constraints.txt) versions" \
	  && grep -v '^torch==' constraints.txt | $$folder/bin/uv pip compile --quiet --generate-hashes --no-deps \
	    --no-annotate --custom-compile-command 'make constraints' - -o hashes.txt

audit: ## look for known vulnerabilities of the pinned packages (network; pip-audit in its own environment)
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && $(PYTHON) -m venv $$folder \
	  && $$folder/bin/python -m pip install --quiet pip-audit==2.10.1 \
	  && $$folder/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict \
	    --progress-spinner off --cache-dir $$folder/cache \
	  || { echo "no clean audit: a package named above has a vulnerability; if none is, pip-audit could not be installed or pypi.org gave no advisories: try again with a network"; exit 1; }
