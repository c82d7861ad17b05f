# Everything is done with one of these targets; `make demo` and `make test` need nothing else first.
# Needs Python 3.11 or later and Rust's cargo. The virtual environment is .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Most modules are never imported. Those that commands load are compiled to bytecode while Cargo works, and the package after
# it: else each command compiles them anew where PYTHONDONTWRITEBYTECODE is set.
PIP_INSTALL := install --quiet --no-compile --constraint constraints.txt
LOADED := import jinja2, markdown_it, polars, rich.console, rich.table, typer.rich_utils, scipy.stats, matplotlib.figure, \
	matplotlib.backends.backend_agg, matplotlib.backends.backend_svg, matplotlib.backends.backend_pdf
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The bindings ask an interpreter for its version, and link none.
export PYO3_PYTHON := $(shell command -v $(PYTHON))

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates examples/quic_stack -name '*.rs' -o -name Cargo.toml)
# Features of the compiled module beside the default ones: `make build FEATURES=own-stack`.
WITH_FEATURES := $(if $(FEATURES),--features $(FEATURES))
# A build with other features is newer than no source.
ifneq ($(FEATURES),)
.PHONY: $(VENV)/compiled $(VENV)/package
endif

.PHONY: demo build installed test test-rust test-python test-long fuzz mutants explorer explorer-pictures explorer-speed playground lint-rust lint-python lint-sources lint-explorer bench bench-start bench-peers bench-python bench-algorithms \
	validate validate-linux validate-modules validate-queues record-linux packetdrill validate-mesonet readme docs lint wheel clean

demo: build
	$(BIN)/longhaul demo --overwrite

# The package, installed for use from this tree; rebuilt when a Rust source changed. Cargo compiles while pip installs.
build:
	@$(MAKE) --no-print-directory --jobs=2 installed

installed: $(VENV)/compiled $(VENV)/package
	@:

# Cargo waits for this one. The interpreter's own pip, if it has one, installs pip and maturin in half the time that `venv`
# takes to unpack the pip that it brings.
$(VENV)/maturin: constraints.txt
	$(PYTHON) -m venv --without-pip $(VENV)
	if $(PYTHON) -m pip --version >/dev/null 2>&1; then $(PYTHON) -m pip --python $(BIN)/python $(PIP_INSTALL) pip maturin flit_core; \
	else $(BIN)/python -m ensurepip >/dev/null && $(BIN)/python -m pip $(PIP_INSTALL) pip maturin flit_core; fi
	touch $@

# What the package needs at run time.
$(VENV)/needs: $(VENV)/maturin
	$(BIN)/pip $(PIP_INSTALL) \
		jinja2 markdown-it-py matplotlib numpy polars rich scipy typer
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -c "$(LOADED)"
	touch $@

# What lint and tests need besides. Tests take warnings for errors, also of the compiler: modules are compiled before.
$(VENV)/tools: $(VENV)/needs
	$(BIN)/pip $(PIP_INSTALL) \
		distributed gymnasium import-linter mypy pytest pytest-xdist ruff tree-sitter tree-sitter-python tree-sitter-rust
	$(BIN)/python -m compileall -qq -j 2 $(VENV)/lib || true
	touch $@

$(VENV)/compiled: $(VENV)/maturin pyproject.toml $(RUST_SOURCES)
	$(BIN)/maturin develop --quiet --release --locked $(WITH_FEATURES) --skip-install
	touch $@

# Python finds the tree itself from then on, with the engine that was compiled last. What it depends on is there.
$(VENV)/package: $(VENV)/needs Cargo.toml pyproject.toml reproductions/pyproject.toml | $(VENV)/compiled
	PIP_NO_DEPS=1 $(BIN)/maturin develop --quiet --release --locked $(WITH_FEATURES)
	$(BIN)/pip $(PIP_INSTALL) --no-deps --no-build-isolation --editable reproductions
	$(BIN)/python -m compileall -qq python/longhaul reproductions
	touch $@

test: test-rust test-python

# The same cases every time, so that a failure is the change's; `test-long` draws others, and more.
test-rust:
	PROPTEST_RNG_SEED=1 cargo test --locked

# Some tests wait for others' processes or for the wall clock, so that three workers keep two cores busy. Each worker loads all
# tests, and many tests start commands: both take longer without bytecode.
test-python: build
	@$(MAKE) --no-print-directory --silent $(VENV)/tools
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest --numprocesses 3 --dist worksteal

test-long: build fuzz
	@$(MAKE) --no-print-directory --silent $(VENV)/tools
	PROPTEST_CASES=2000 cargo test --locked
	cargo test --locked -- --ignored
	$(BIN)/pytest -m long

# Mutated scenarios, and random legal ones, from text to results; `crates/scenario/tests/scenario/fuzz.rs` mutates for the
# reader alone.
fuzz: build
	$(BIN)/python -m validation.robustness.fuzz mutations
	$(BIN)/python -m validation.robustness.fuzz legal
	$(BIN)/python -m validation.robustness.fuzz quic

# Changes of the code that no test notices, of N drawn with SEED: make mutants SEED=7 N=40 ROOM="queue tcp".
mutants: build
	@$(MAKE) --no-print-directory --silent $(VENV)/tools
	$(BIN)/python -m tools.mutants $(if $(SEED),--seed $(SEED)) $(if $(N),--count $(N)) $(if $(ROOM),--room $(ROOM))

# The script of the page that `longhaul explore` writes: only who changes it needs Node.
explorer: lint-explorer
	cd explorer && npm test && npm run build

explorer-pictures: build
	$(BIN)/pip $(PIP_INSTALL) playwright
	$(BIN)/python explorer/pictures.py

# Also runs of one's own: make explorer-speed RUNS="runs/a runs/b".
explorer-speed: build
	$(BIN)/pip $(PIP_INSTALL) playwright
	$(BIN)/python explorer/speed.py $(RUNS)

bench:
	cargo bench --locked --package longhaul-benches

# Processor time of commands; beside those of another checkout: make bench-start BEFORE=PATH.
bench-start: build
	$(BIN)/python -m validation.speed.start $(BEFORE)

bench-peers: build
	$(BIN)/python -m validation.speed.peers

bench-python: build
	$(BIN)/python -m validation.speed.algorithms

bench-algorithms: build
	$(BIN)/python -m validation.speed.native

validate: build
	$(BIN)/python -m validation.ns2

# The engine as WebAssembly, for a page of the site; without the compiler's target, that page says how to get it.
playground:
	@if [ -d "$$(rustc --print target-libdir --target wasm32-unknown-unknown)" ]; then \
		cargo build --quiet --locked --profile playground --target wasm32-unknown-unknown --package longhaul-playground; \
	fi

# The site, in site/html: reference, gallery and results are made from the program, then Sphinx builds all pages.
docs: build playground $(VENV)/docs
	$(BIN)/python -m tools.site
	$(BIN)/sphinx-build --quiet -W --keep-going -n -j auto docs site/html

$(VENV)/docs: $(VENV)/tools
	$(BIN)/pip $(PIP_INSTALL) \
		duckdb marimo-base myst-parser pandas playwright pyarrow pydata-sphinx-theme sphinx sphinx-copybutton sphinx-design
	touch $@

# The numbers of README's first scenario again.
readme: build
	$(BIN)/python -m validation.readme

# The profile linux beside recordings of Linux 6.18; writes docs/linux.md and its pictures.
validate-linux: build
	$(BIN)/python -m validation.linux

# The modules of a kernel's tree, or of its tar file, beside our algorithms: make validate-modules KERNEL=TREE. Takes ten minutes.
validate-modules: build
	$(BIN)/python -m validation.modules $(KERNEL)

# Its queue disciplines beside ours, packet for packet: make validate-queues KERNEL=TREE, or KERNEL="TREE NEWER" for DualPI2.
# Takes four minutes after the build.
validate-queues:
	@$(MAKE) --no-print-directory --silent $(VENV)/needs
	$(BIN)/python -m validation.queues $(KERNEL)

# The recordings anew, of this machine's kernel: needs root, TUN devices and network namespaces, and an hour in which
# nothing else runs. What is recorded already, in validation/out/linux, is not again.
record-linux: build
	$(BIN)/python -m validation.linux.record

# A sender of the profile linux against packetdrill's scripts: make packetdrill SCRIPTS=FOLDER.
packetdrill:
	PACKETDRILL=$(abspath $(SCRIPTS)) cargo test --locked --package longhaul-engine --lib packetdrill -- --ignored --nocapture

validate-mesonet: build
	$(BIN)/python -m validation.mesonet

lint: lint-rust lint-python lint-sources

lint-explorer: explorer/node_modules
	cd explorer && npm run check

explorer/node_modules: explorer/package-lock.json
	cd explorer && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

lint-rust:
	# File by file: modules that macros declare are not found otherwise.
	git ls-files -z "*.rs" | xargs -0 rustfmt --edition 2024 --check
	cargo clippy --locked --all-targets -- -D warnings
	cargo clippy --locked --all-targets --package longhaul-playground -- -D warnings

lint-python: $(VENV)/tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	# From the sources: on a fresh machine nothing is built or installed yet.
	PYTHONPATH=python:reproductions:. $(BIN)/lint-imports --no-logo

# Sources that a reader can open: no pages of a private specification, paths of a machine, or hosts of registries.
lint-sources:
	@! git grep -nIE '\b[Ss]pec 00[0-9]|\b00[0-4][a-e] [A-J][0-9.-]|[( ]spec$$|(^|[ "(`])/(work|home|root|Users|opt/wheels)/|pypi\.org|pythonhosted|static\.crates\.io' \
		-- . ':!Makefile' || { echo 'cite what a reader can open: RFC, paper, thesis or report with its section'; exit 1; }

wheel: $(VENV)/maturin
	$(BIN)/maturin build --release --locked --out dist
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist ./reproductions

clean:
	cargo clean
	rm -rf $(VENV) dist demo-report site
