# Two commands for a fresh clone: `make demo` and `make test`. Both set up everything they need in .venv.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
COMMAND := $(HOME)/.local/bin/fourcells
# Real data made by others, for tests and measurements; tests that need it skip where it is absent.
FOURCELLS_REAL_DATA ?= $(wildcard ../shared/data)
ifneq ($(FOURCELLS_REAL_DATA),)
export FOURCELLS_REAL_DATA
endif

.PHONY: setup demo link test lint types format readme bench bench-judges bench-llm lock clean

setup: $(READY)

# The lock names exact versions and hashes; pip compiles what it installs to bytecode, and we compile ourselves.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("fourcells needs Python 3.11 or newer, this is " + sys.version) if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	$(BIN)/python -m compileall -q flows tasks schemas
	@touch $@

demo: $(READY) link
	$(BIN)/fourcells run --workspace data

# Makes `fourcells` a command in any folder, as pipx does; a file that is not ours is left alone.
link: $(READY)
	@mkdir -p "$(HOME)/.local/bin"
	@if [ ! -e "$(COMMAND)" ] || [ -L "$(COMMAND)" ]; then ln -sfn "$(CURDIR)/$(BIN)/fourcells" "$(COMMAND)"; fi
	@case ":$$PATH:" in *":$(HOME)/.local/bin:"*) ;; *) \
	  echo "For the command fourcells in any folder: export PATH=\"$(HOME)/.local/bin:\$$PATH\"";; esac

# Tests of the flow mostly wait for servers, so they run beside the others; what they said follows.
test: lint types
	@said=$$(mktemp); \
	$(BIN)/python -m pytest --quiet -p no:cacheprovider tests/flows > $$said 2>&1 & flows=$$!; \
	$(BIN)/python -m pytest --quiet --ignore=tests/flows; others=$$?; \
	wait $$flows; flows=$$?; cat $$said; rm -f $$said; exit $$((flows | others))

lint: $(READY)
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/lint-imports --no-logo > /dev/null || $(BIN)/lint-imports --no-logo

types: $(READY)
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Writes the README's numbers anew from a run of the built-in workspace.
readme: $(READY)
	$(BIN)/python -m tests.readme_blocks

# Measures the offline judge on sets that people labelled, and on the planted mistakes; writes tests/bench/RESULTS.md.
bench-judges: $(READY)
	$(BIN)/python -m tests.bench.judges

# Measures time and memory at size (about a quarter of an hour); writes tests/bench/RESULTS.md. Some rows anew: make bench ROWS="flow tables".
bench: $(READY)
	$(BIN)/python -m tests.bench.figures $(ROWS)

# Measures model calls against a stub on this machine, beside ragas and deepeval in environments of their own (about ten
# minutes; FOURCELLS_BENCH_PEERS=DIR keeps these); writes tests/bench/RESULTS.md.
bench-llm: $(READY)
	$(BIN)/python -m tests.bench.llm

# Writes the lock anew from pyproject.toml; needs uv.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes --no-emit-index-url --no-header --no-annotate --output-file requirements.lock pyproject.toml

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache data/store data/reports
