# Python 3.11 or newer, git and make are enough: each target installs what it needs into .venv.
# CONTRIBUTING.md says what each target does.

PYTHON  ?= python3
WORKERS ?= 2
BIN     := .venv/bin
PIP     := python -m pip --disable-pip-version-check install --quiet
TORCH   := torch==2.13.0# named whenever something is installed that wants torch, so that pip keeps it
SITE    := build/docs/html
APT      = (apt-get update -qq && apt-get install -y -qq --no-install-recommends $(1)) || (echo "Install $(1)"; false)

HOUSE    = $(addprefix src/trueness/,answers charts engine inference metrics report arguments.py document.py exact_sums.py \
  formatting.py listing.py spec.py table.py table_checks.py table_file.py today.py) $(addprefix tests/,answers charts metrics new_inference \
  new_report table)

.PHONY: demo test lint docs bench dist everything release-check clean
.NOTPARALLEL:

demo: .venv/.package
	@$(BIN)/trueness demo

test: .venv/.test $(if $(filter true 1,$(CI)),everything)
	@$(BIN)/python -m pytest -q -n $(WORKERS)

lint: .venv/.lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/ruff format --check --line-length 100 --config 'format.exclude=[]' $(wildcard $(HOUSE))
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell

docs: .venv/.docs
	@rm -rf docs/reference/api/generated $(SITE)
	@$(BIN)/python -m sphinx -q -E -W --keep-going -j auto -d build/docs/doctrees docs $(SITE)
	@$(BIN)/python -m pytest -q tests/docs/site_checks.py
	@echo "The documentation is in $(SITE)/index.html"

bench: everything
	@$(BIN)/python benchmarks/portable.py | tee benchmarks/results/portable.txt
	@set -e; for name in compiled class_tables files inference clusters torch_metric cluster required; do \
	  $(BIN)/python benchmarks/$$name.py; done

dist: .venv/.dist # the wheel is built from the source distribution, so what that lacks is missed
	@rm -rf build/dist && $(BIN)/python -m build --outdir build/dist >/dev/null
	@$(BIN)/python -m twine check --strict build/dist/*
	@$(PYTHON) -m venv --clear build/bare && build/bare/bin/$(PIP) build/dist/*.whl pytest hypothesis
	@CI= build/bare/bin/python -m pytest -q tests/laws tests/vectors tests/report/test_report_page.py
	@mkdir -p dist && cp build/dist/*.tar.gz dist/ && ls -l build/dist/*.whl dist/*.tar.gz

everything: .venv/.everything
	@java -version 2>&1 | grep -Eq '"(1[7-9]|[2-9][0-9])' || $(call APT,openjdk-17-jre-headless)
	@which chromium chromium-browser google-chrome $$TRUENESS_BROWSER | grep -q . || $(call APT,chromium)

release-check: everything .venv/.release dist
	@test -z "$(TAG)" || $(BIN)/python scripts/check_release.py --tag "$(TAG)"
	@which qemu-aarch64 >/dev/null || $(call APT,qemu-user)
	@CI=true $(BIN)/python -m pytest -q -n $(WORKERS) -m "slow or not slow" --cov
	@$(BIN)/python scripts/make_wheels.py && $(BIN)/python scripts/check_release.py --dist
	@$(BIN)/python -m twine check --strict dist/*

clean:
	rm -rf .venv build dist .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests scripts benchmarks docs -name __pycache__ -prune -exec rm -rf {} + -o -name '_library.*' -delete

# These files say what the environment holds. An editable install uses Python modules in place, but compiles C.
.venv/.package: pyproject.toml hatch_build.py $(wildcard src/trueness/tabulation/compiled/source/*.[ch])
	$(PYTHON) -m venv .venv
	$(BIN)/$(PIP) 'pip>=25.1'
	$(BIN)/$(PIP) -e .
	@touch $@

.venv/.everything: .venv/.test
	$(BIN)/$(PIP) '$(TORCH)'
	$(BIN)/$(PIP) '$(TORCH)' torchmetrics lightning --group adapters --group peers --group browser --group build
	$(BIN)/$(PIP) --no-deps netcal # its calibration error needs NumPy and SciPy only
	@touch $@

.venv/.%: .venv/.package
	$(BIN)/$(PIP) --group $*
	@touch $@
