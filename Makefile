# make demo   the model in the box, and how it is made   make test   everything that CI runs
# make check  format, lint, types, fast tests            make build  the wheel, tested as installed
# make paper ARGS="overall --data data --out experiments": a table of the paper
# make lock   renew the hashes of the pinned packages    make audit  look for known vulnerabilities in them
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PIP := $(PIP_INSTALL) -c constraints.txt
INPUTS := pyproject.toml constraints.txt requirements.lock
PACKAGED := tests/cli tests/report tests/serve tests/data/test_embedded.py tests/test_public_surface.py tests/test_ready.py

# Compiled files are kept, also where the environment says otherwise: hundreds of test processes begin with them.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup demo paper test check chromium build lock audit clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The stamp is written last, so its existence means the installation completed.
$(VENV)/.demo: $(INPUTS) | $(BIN)/python
	$(PIP) -e '.[train]'
	touch $@

# Every package is checked against its hash, and the last command only adds this one. Where an index offers another file, such as
# torch for GPUs, the last command installs everything, by version alone.
$(VENV)/.setup: $(INPUTS) | $(BIN)/python
	@$(PIP_INSTALL) --require-hashes --no-deps -r requirements.lock \
	  || { echo "requirements.lock does not fit what is offered here (reason above): installing by version, without hashes"; \
	       $(PIP) hatchling editables; }
	$(PIP) --no-build-isolation -e '.[all,dev]'
	touch $@ $(VENV)/.demo

setup: $(VENV)/.setup

demo: $(VENV)/.demo
	$(BIN)/pssa demo

paper: $(VENV)/.setup
	$(BIN)/python -m paper $(or $(ARGS),--list)

check: $(VENV)/.setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -m "not slow and not browser" -n 2 --dist worksteal

test: check chromium
	$(BIN)/pytest -m slow -n 2 --dist loadfile
	$(BIN)/pytest -m browser
	$(MAKE) build

# Tests in a browser need one; where it can be neither found nor installed they are skipped with the reason.
chromium:
	@command -v chromium > /dev/null || { command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ] \
	  && apt-get update -qq > /dev/null 2>&1 && apt-get install -y -qq chromium > /dev/null 2>&1; } \
	  || echo "no chromium here: tests in a browser will be skipped"

# The wheel is installed into a folder of its own. Tests of what reads packaged files run against it, not against src/.
build: $(VENV)/.setup
	rm -rf dist
	$(BIN)/python -m build --wheel --no-isolation --outdir dist . > /dev/null
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target dist/installed dist/*.whl
	PYTHONPATH=$(CURDIR)/dist/installed PSSA_EXPECT_INSTALLED=$(CURDIR)/dist/installed $(BIN)/pytest -m "not slow and not browser" -n 2 $(PACKAGED)

lock: $(VENV)/.setup
	$(BIN)/python scripts/lock.py

# Strict: a package that cannot be looked up counts as a failure, not as harmless. It needs a network.
audit: $(VENV)/.setup
	$(PIP_INSTALL) pip-audit
	$(BIN)/python -m pip_audit --strict --disable-pip --require-hashes -r requirements.lock

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache
