# Every target sets up what it needs: only Python 3.11 or newer, git and make are taken for granted.
#
#   make demo    assess three real classifiers, shipped with the package
#   make test    the whole test suite, once bare and once with everything
#   make lint    ruff, mypy, import-linter, codespell
#   make bench   the speed of both engines beside other libraries (installs torch)
#   make cluster Dask and Spark, for the tests that need them (large; CI always has them)
#   make browser Chromium, for the tests of the report (Debian's package; CI always has it)
#   make docs    build the documentation into build/docs/html, strictly, and run its examples
#   make docs-serve  the same, served at http://127.0.0.1:8000
#   make validation  write docs/background/validation.md anew (needs make torch)
#   make dist    the source distribution, and a wheel of it that passes the tests without extras
#   make wheels  wheels for five platforms in dist/, compiled by ziglang
#   make torch   torch, torchmetrics and Lightning, for the tests that need them (large; CI always has them)
#   make clean   remove what the other targets made

PYTHON  ?= python3
WORKERS ?= 2

# What numbers come from: rows, tables, measures, inference.
CORE := */trueness/_*.py,*/trueness/[a-z]*.py,*/trueness/bins/*,*/trueness/rows/*,*/trueness/table/*,*/trueness/variation/*,*/trueness/tabulation/*,*/trueness/inference/*,*/trueness/assessment/*

# What the installed package is built from, besides Python modules, which an editable install uses in place.
BUILT_FROM := pyproject.toml hatch_build.py $(wildcard src/trueness/tabulation/compiled/source/*.[ch])

# What a wheel is built from.
PACKAGED := $(BUILT_FROM) README.md LICENSE $(shell find src -type f ! -name '*.pyc' ! -name '_library.*')

VENV := .venv
SITE := build/docs/html
BARE := .venv-bare
DIST := build/dist
PIP  := python -m pip --disable-pip-version-check install --quiet

# The version is fixed, and named again beside what depends on it so that pip cannot replace it.
TORCH := torch==2.13.0

# In CI nothing may be left out; elsewhere torch and the cluster engines are too large to be imposed.
ifneq ($(filter true 1,$(CI)),)
TORCH_FOR_TESTS := $(VENV)/.torch
CLUSTER_FOR_TESTS := $(VENV)/.cluster
BROWSER_FOR_TESTS := browser
endif

.PHONY: demo test test-bare lint bench browser cluster docs docs-serve validation dist check-dist release-check wheels torch clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

demo: $(VENV)/.package
	@$(VENV)/bin/trueness demo

test: $(VENV)/.test $(TORCH_FOR_TESTS) $(CLUSTER_FOR_TESTS) $(BROWSER_FOR_TESTS) test-bare
	@echo "The whole suite:"
	@$(VENV)/bin/python -m pytest -n $(WORKERS) --cov
	@echo "Of the core, at least 95 % of lines and branches:"
	@$(VENV)/bin/python -m coverage report --fail-under=95 --include='$(CORE)'

# The wheel is tested, and not the sources beside the tests.
test-bare: $(BARE)/.test
	@echo "The wheel without extras (NumPy and narwhals alone):"
	@TRUENESS_BARE=1 $(BARE)/bin/python -m pytest -q -m 'not simulation' --ignore-glob='*/trueness/plots/*' \
	  --pyargs trueness tests README.md docs

lint: $(VENV)/.lint
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-logo
	$(VENV)/bin/codespell

# To compare with the engine before this one, install numba into $(VENV) first: see benchmarks/README.md.
bench: $(VENV)/.bench $(VENV)/.cluster $(VENV)/.wheels
	@$(VENV)/bin/python benchmarks/portable.py | tee benchmarks/results/portable.txt
	@$(VENV)/bin/python benchmarks/compiled.py
	@$(VENV)/bin/python benchmarks/class_tables.py
	@$(VENV)/bin/python benchmarks/building.py
	@$(VENV)/bin/python benchmarks/files.py
	@$(VENV)/bin/python benchmarks/inference.py
	@$(VENV)/bin/python benchmarks/clusters.py
	@$(VENV)/bin/python benchmarks/torch_metric.py
	@$(VENV)/bin/python benchmarks/cluster.py
	@$(VENV)/bin/python benchmarks/required.py

torch: $(VENV)/.torch

cluster: $(VENV)/.cluster

# Playwright drives it but does not bring it: its own builds come from no package registry.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || { echo "Installing chromium:"; apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } \
	  || { echo "Install Chromium by hand, or name a browser: export TRUENESS_BROWSER=/path/to/chromium"; exit 1; }

docs: $(VENV)/.docs
	@$(VENV)/bin/python -m pytest -q docs README.md
	@rm -rf docs/reference/api/generated $(SITE)
	@$(VENV)/bin/python -m sphinx -q -E -W --keep-going -j auto -d build/docs/doctrees docs $(SITE)
	@echo "The documentation is in $(SITE)/index.html"

docs-serve: docs
	@$(VENV)/bin/python -m http.server --bind 127.0.0.1 --directory $(SITE) 8000

validation: $(VENV)/.test $(VENV)/.torch
	@$(VENV)/bin/python scripts/make_validation_page.py

dist: $(DIST)/.built test-bare
	@mkdir -p dist
	@cp $(DIST)/*.tar.gz dist/
	@ls -l $(DIST)/*.whl dist/*.tar.gz

# Of a release: `make release-check TAG=v0.2.0` first, `make check-dist` after `make dist` and `make wheels`.
release-check:
	@$(PYTHON) scripts/check_release.py --tag "$(TAG)"

check-dist: $(VENV)/.dist
	@$(VENV)/bin/python scripts/check_release.py --dist
	$(VENV)/bin/python -m twine check --strict dist/*

wheels: $(VENV)/.wheels
	@$(VENV)/bin/python scripts/make_wheels.py

clean:
	rm -rf $(VENV) $(BARE) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -f .coverage .coverage.* src/trueness/tabulation/compiled/_library.*
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps below say what an environment holds; a changed pyproject.toml makes them stale. So does a changed C source:
# installing again compiles it.

$(VENV)/.package: $(BUILT_FROM)
	@$(PYTHON) -c 'import sys; sys.exit("trueness needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/$(PIP) -e .
	@touch $@

$(VENV)/.test: $(VENV)/.package
	$(VENV)/bin/$(PIP) -e '.[test]'
	@touch $@

$(VENV)/.lint: $(VENV)/.package
	$(VENV)/bin/$(PIP) -e '.[lint]'
	@touch $@

$(VENV)/.docs: $(VENV)/.package
	$(VENV)/bin/$(PIP) -e '.[docs]'
	@touch $@

$(VENV)/.wheels: $(VENV)/.package
	$(VENV)/bin/$(PIP) -e '.[wheels]'
	@touch $@

$(VENV)/.torch: $(VENV)/.package
	$(VENV)/bin/$(PIP) '$(TORCH)'
	$(VENV)/bin/$(PIP) '$(TORCH)' torchmetrics lightning
	$(VENV)/bin/$(PIP) --no-deps netcal  # its metrics need NumPy and SciPy only
	@touch $@

$(VENV)/.cluster: $(VENV)/.package
	$(VENV)/bin/$(PIP) -e '.[dask,spark]'
	@touch $@

# netcal's own requirements would bring in far more than its calibration error needs.
$(VENV)/.bench: $(VENV)/.torch
	$(VENV)/bin/$(PIP) '$(TORCH)' -e '.[bench]'
	$(VENV)/bin/$(PIP) --no-deps netcal
	@touch $@

$(VENV)/.dist: $(VENV)/.package
	$(VENV)/bin/$(PIP) -e '.[dist]'
	@touch $@

# The wheel is built from the source distribution, so what that lacks is missed.
$(DIST)/.built: $(PACKAGED) $(VENV)/.dist
	rm -rf $(DIST)
	$(VENV)/bin/python -m build --outdir $(DIST) >/dev/null
	$(VENV)/bin/python -m twine check --strict $(DIST)/*
	@touch $@

$(BARE)/.test: $(DIST)/.built
	$(PYTHON) -m venv --clear $(BARE)
	$(BARE)/bin/$(PIP) "$$(ls $(DIST)/*.whl)[test-bare]"
	@touch $@
