# The two that a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
TOOLS := .venv/tools

.PHONY: demo test check bench dist docs test-dsh test-clients fuzz mutate soak audit lock clean

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

# Ten minutes each. Where atheris does not install, Hypothesis makes the inputs.
fuzz: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'atheris>=3,<4' || echo 'fuzz: no atheris here'
	$(BIN)/python tests/fuzz/run.py --seconds 600 --jobs 2

# One mistake at a time in a copy of the code: which of them does no test notice? Some hours on two busy cores;
# MUTANTS='breaker.gate*' is one module's.
mutate: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'mutmut>=3.8,<4'
	rm -rf build/mutate && mkdir -p build/mutate
	tar -cf - --exclude=__pycache__ --exclude=node_modules breaker protocol tests pyproject.toml | tar -xf - -C build/mutate
	cd build/mutate && nice -n 10 ../../$(BIN)/mutmut run --max-children 2 $(MUTANTS)
	cd build/mutate && ../../$(BIN)/mutmut results | sed '/: not checked/d'

soak: $(INSTALLED)
	PYTHONPATH=tests:. $(BIN)/python -P tests/soak/run.py

# Advisories about the pinned dependencies; exit status 2 where nobody answers.
audit: $(TOOLS)
	$(TOOLS)/bin/python .ci/audit.py

lock: $(TOOLS)
	$(TOOLS)/bin/pip-compile --quiet --generate-hashes --extra redis --extra zstd --strip-extras --no-header \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file requirements.lock pyproject.toml

$(TOOLS):
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check 'pip-audit>=2.9' 'pip-tools>=7.5'

# Some minutes. SECTIONS="wire engine" measures those alone; tests/README.md names them.
bench: $(INSTALLED)
	$(BIN)/python tests/bench/run.py $(SECTIONS)

dist: $(INSTALLED)
	$(BIN)/python .ci/release.py

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
