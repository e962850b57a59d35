# The two that a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test check bench dist docs test-dsh test-clients clean

demo: $(INSTALLED)
	$(BIN)/python examples/demo.py

test: $(INSTALLED)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python .ci/docs.py --check

docs: $(INSTALLED)
	$(BIN)/python .ci/docs.py

# The real harnesses, from the npm registry: 490 MB and a minute, 1.1 GB and some minutes.
test-dsh: $(INSTALLED)
	tests/dsh/run

test-clients: $(INSTALLED)
	tests/clients/run

bench: $(INSTALLED)
	$(BIN)/python tests/bench/run.py

dist: $(INSTALLED)
	$(BIN)/python .ci/release.py

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
