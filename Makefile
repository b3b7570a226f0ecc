# Needs only python3 (3.11 or newer, with venv) and make; everything else is fetched.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test check test-slow benchmarks supply clean

demo: $(READY)  ## a private release of the Pima diabetes table in ./sfumato-demo
	$(BIN)/sfumato demo --out sfumato-demo

test: $(READY)  ## formatting, lint, types, floors and all tests
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -q -rs -n auto --dist loadgroup

test-slow: $(READY)  ## the long statistical runs, and new random examples
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -q -m "slow or hypothesis"

benchmarks: $(READY)  ## ratios against peers, in an environment of their own
	$(PYTHON) benchmarks/run_all.py

supply: $(READY)  ## the lock is fresh and has hashes, the wheel has the same bytes twice, an SBOM, advisories
	$(BIN)/uv lock --check
	$(BIN)/python -m pytest -q -m "slow or not slow" tests/test_supply.py
	$(BIN)/uv export --quiet --frozen --all-extras --format cyclonedx1.5 --output-file sbom.cdx.json
	$(BIN)/python tests/advisories.py $(if $(OSV),--osv $(OSV)) || test $$? = 3  # 3: none to compare with

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("sfumato needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[all]' --group dev
	touch $(READY)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis sfumato-demo
