# Every target sets up .venv by itself; it is redone only when the package description changes.

PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.ne_dynamics_installed
EXTRAS := ros,sim,fast,plot,report,test,dev
# A demo needs less; where the rest is there, nothing is installed for it.
DEMO_STAMP := $(VENV)/.ne_dynamics_demo
DEMO_EXTRAS := ros,sim,fast,plot
# What makes the site is installed when it is made.
DOCS_STAMP := $(VENV)/.ne_dynamics_docs
.PHONY: help venv demo docs test test-long golden golden-net fuzz bench soak fault-speeds observer-study gain-study commission-study lint format readme

help:
	@echo 'make demo     follow a trajectory in simulation with four control laws, and compare'
	@echo 'make test     run the tests'
	@echo 'make test-long   run those that make test leaves out: more robots, seeds, faults of a kind'
	@echo 'make golden   record the sessions of test/golden anew: ONLY="names" CHECK=1 ACCEPT="reason"'
	@echo 'make fuzz     random messages to the node: MESSAGES=100000 SEED=...; prints its figures'
	@echo 'make bench    measure speed beside other libraries; writes benchmark/README.md'
	@echo 'make soak     run the node for long beside a bare relay: memory, misses, faults (MINUTES=30)'
	@echo 'make observer-study   measure the tables of doc/observer.md (minutes)'
	@echo 'make fault-speeds   measure the speeds after faults of doc/fault_speeds.md (minutes)'
	@echo 'make gain-study   gains for four arms, rates and delays, tried in MuJoCo (half an hour)'
	@echo 'make commission-study   commission ten simulated arms with hidden errors (an hour)'
	@echo 'make golden-net   record anew what identifications and interfaces are (test/golden)'
	@echo 'make docs     make the site of doc/: doc/_build/html/index.html'
	@echo 'make lint     ruff (lint, format) and mypy'
	@echo 'make format   let ruff format the code and fix what it can'
	@echo 'make readme   write the tables of doc/parameters.md and doc/thresholds.md anew'
	@echo 'make venv     only set up $(VENV)'

venv: $(STAMP)

$(STAMP): INSTALLED := $(EXTRAS)
$(DEMO_STAMP): INSTALLED := $(DEMO_EXTRAS)
$(STAMP) $(DEMO_STAMP): setup.py setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo 'Python 3.10 or newer is needed; name one: make PYTHON=python3.11'; exit 1; }
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@echo 'Setting up $(VENV) ($(INSTALLED)): minutes of downloads, once.'
	@$(VENV)/bin/python -m pip install -q -q --editable '.[$(INSTALLED)]'
	@touch $@

$(DOCS_STAMP): $(STAMP)
	@$(VENV)/bin/python -m pip install -q -q --editable '.[docs]'
	@touch $@

docs: $(DOCS_STAMP)
	@$(VENV)/bin/python -m sphinx -W --keep-going -q -b html doc doc/_build/html
	@echo 'doc/_build/html/index.html'

demo: $(if $(wildcard $(STAMP)),$(STAMP),$(DEMO_STAMP))
	@$(VENV)/bin/ne_dynamics demo

# A file of tests stays in one process. Nothing depends on who is faster: they may share the cores,
# and while one waits for messages others compute. Hundreds of processes are started, which need not
# compile the same modules again, even where Python is told to keep no bytecode.
test test-long: export PYTHONDONTWRITEBYTECODE =
# The workers share the cores: matrices of a hundred rows are no work for all of them at once.
test test-long: export OPENBLAS_NUM_THREADS = 1
PYTEST := $(VENV)/bin/python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder

test: venv
	@$(PYTEST) -m 'not long' test

test-long: venv
	@NE_DYNAMICS_LONG_PART=$(PART) $(PYTEST) -m long test

golden: export OPENBLAS_NUM_THREADS = 1
golden: export ACCEPT ?=
golden: venv
	@$(VENV)/bin/python -W ignore::RuntimeWarning test/golden/record_golden.py \
		$(if $(ONLY),--only '$(ONLY)') $(if $(CHECK),--check)

fuzz: venv
	@$(VENV)/bin/python -W ignore::RuntimeWarning test/support/fuzz_run.py \
		--messages $(or $(MESSAGES),100000) $(if $(SEED),--seed $(SEED))

bench: venv
	@$(VENV)/bin/python -m benchmark --output benchmark/results.json --document benchmark/README.md
	@$(VENV)/bin/python -m benchmark --only functions --output benchmark/functions.json \
		--document benchmark/README.md

soak: venv
	@$(VENV)/bin/python -m benchmark.soak --minutes $(or $(MINUTES),30)

golden-net: venv
	@OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python test/support/record_net.py $(RECORDS)

observer-study: venv
	@$(VENV)/bin/python -m studies.observer_study doc/observer.md

fault-speeds: venv
	@$(VENV)/bin/python -m studies.fault_speed_table

gain-study: venv
	@OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m studies.gain_study $(or $(FILE),gain_study.json)

commission-study: venv
	@$(VENV)/bin/python -m studies.commission_study $(or $(FOLDER),commission_study)

lint: venv
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

format: venv
	@$(VENV)/bin/ruff check --fix-only --quiet .
	@$(VENV)/bin/ruff format .

readme: venv
	@$(VENV)/bin/python -m studies.parameter_table doc/parameters.md doc/thresholds.md
