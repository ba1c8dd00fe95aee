# make demo   the main job on the embedded corpus        make test   everything that CI runs
# make check  format, lint, types, fast tests            make build  the wheel, tested as installed
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
INPUTS := pyproject.toml constraints.txt

.PHONY: setup demo test check build clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The stamp is written last, so its existence means the installation completed.
$(VENV)/.demo: $(INPUTS) | $(BIN)/python
	$(PIP) -e .
	touch $@

$(VENV)/.setup: $(INPUTS) | $(BIN)/python
	$(PIP) -e '.[all,dev]'
	touch $@ $(VENV)/.demo

setup: $(VENV)/.setup

demo: $(VENV)/.demo
	$(BIN)/pssa demo

check: $(VENV)/.setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -m "not slow" -n 2

test: check
	$(BIN)/pytest -m slow -n 2
	$(MAKE) build

# The wheel is installed into a folder of its own and the fast tests run against it, not against src/.
build: $(VENV)/.setup
	rm -rf dist
	$(BIN)/python -m build --wheel --no-isolation --outdir dist . > /dev/null
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target dist/installed dist/*.whl
	PYTHONPATH=$(CURDIR)/dist/installed PSSA_EXPECT_INSTALLED=$(CURDIR)/dist/installed $(BIN)/pytest -m "not slow" -n 2

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache
