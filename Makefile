# `make up` and `make test` are all a newcomer needs.
PYTHON ?= python3
BIN := .venv/bin
# Processes that run tests beside each other; one more than cores, because tests also wait:
# `make test PROCESSES=4`.
PROCESSES ?= 3
PYTEST := $(BIN)/pytest -n $(PROCESSES) --dist=worksteal -q

.DEFAULT_GOAL := help

help: ## what each word does
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

up: setup ## set up what is missing and start Rota with example jobs
	@exec $(BIN)/rota up --demo

setup: ## prepare .venv and .venv/bin/rota, start nothing
	@$(PYTHON) tools/bootstrap.py
	@$(PYTHON) tools/web.py --if-possible

setup-dev:
	@$(PYTHON) tools/bootstrap.py --dev
	@$(PYTHON) tools/system_packages.py
	@$(PYTHON) tools/web.py --if-possible

web: ## build the dashboard, from web/ into the package
	@$(PYTHON) tools/web.py

test: check ## everything CI runs: the checks and all tests
	$(PYTEST)

test-alerts: setup-dev ## ten thousand incidents and watched jobs, and more random histories; five minutes
	ROTA_TEST_ALERTS=1 $(PYTEST) tests/integration/engine/alerting

test-attack: setup-dev ## attacks on a running installation with two tenants, and what held; five minutes
	$(BIN)/python -m tests.attack

test-chaos: setup-dev ## all broken rules, and a quarter of an hour of killed, frozen and cut processes
	ROTA_TEST_CHAOS=1 $(PYTEST) tests/chaos/test_power.py
	$(BIN)/python -m tests.chaos

test-failover: setup-dev ## a PostgreSQL cluster loses its leader: switched over, killed, frozen; five minutes
	ROTA_TEST_FAILOVER=1 $(BIN)/pytest -q -s tests/failover

test-faults: setup-dev ## the fault table: the database, a worker's network, disk and clocks fail; up to 20 minutes
	$(BIN)/python -m tests.faults

test-time: setup-dev ## 200,000 cron expressions against each of the other implementations
	ROTA_TEST_TIME=1 $(PYTEST) tests/property/time

test-upgrade: setup-dev ## the previous release beside this one, for longer than `make test` does
	ROTA_TEST_UPGRADE=1 $(PYTEST) tests/upgrade

check: setup-dev ## lint, types, doors, SQL format, generated files; under a minute
	@$(BIN)/python tools/check.py

format: setup-dev ## format Python and SQL
	$(BIN)/ruff check --fix -q . ; $(BIN)/ruff format -q .
	$(BIN)/sqlfluff fix -q src/rota/store/sql src/rota/store/migrations src/rota_bench/sql

generate: setup-dev ## write the files that are rendered from others
	$(BIN)/python tools/generate.py
	$(BIN)/python tools/sql_fragments.py
	$(BIN)/python tools/schema.py

bench: setup-dev ## measure the engine: throughput, lag, pick-up, herds, fairness
	$(BIN)/rota bench

bench-store: setup-dev ## rates of the hot statements on the embedded database
	$(BIN)/python -m tests.bench.store

bench-lists: setup-dev ## lists of the API with 10,000,000 runs in history; a quarter of an hour
	$(BIN)/python -m tests.bench.lists

bench-web: setup-dev web ## the dashboard in a Chromium: first view, long tasks beside a busy live feed
	$(BIN)/python -m tests.bench.web

bench-time: setup-dev ## cost of the next fire time
	$(BIN)/python -m tests.bench.time

audit: setup-dev ## known vulnerabilities of all that is locked; needs the network
	$(BIN)/python -m tools.audit

lock: setup-dev ## resolve the dependencies again (the files name no host)
	$(BIN)/python tools/lock.py

.PHONY: help up setup setup-dev web test test-alerts test-attack test-chaos test-failover test-faults test-time test-upgrade check format generate bench bench-store bench-lists bench-web bench-time audit lock
