# Everything runs in an environment of its own, .venv; remove it with "make clean".
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test test-levels test-adapters check docs licences package figure pictures bench against fuzz failures measures calibration calibration-full clean

help:
	@echo "make demo    measure the example and both models, figure and report into demo/"
	@echo "make test    run the tests, and print how many lines of the package they run (3 minutes)"
	@echo "make test-levels  more tests of levels, powers and intervals (2 minutes)"
	@echo "make test-adapters  test the adapters inside the real libraries (some minutes, 2 GB)"
	@echo "make check   lint and type check"
	@echo "make package  build wheel and source distribution into dist/, and try them (minutes)"
	@echo "make docs    build the documentation into build/docs/"
	@echo "make licences  list the licences of all dependencies anew, in docs/licences.json"
	@echo "make figure  redraw docs/images/figure1.* with 200 trials (some minutes)"
	@echo "make pictures  redraw the other pictures of the README"
	@echo "make bench   time the library and its peers, results in benchmarks/results/"
	@echo "make against COMMIT=abc123  time this version against an earlier one (minutes)"
	@echo "make fuzz    40,000 calls with data of the worst kinds (an hour; goes on where it was)"
	@echo "make failures          how wrong the test is where its assumptions fail (5 minutes)"
	@echo "make measures          compare measures of conditional dependence (15 minutes)"
	@echo "make calibration       level and power of the test and its peers, reduced (minutes)"
	@echo "make calibration-full  all of it (hours; stop it at any time, it goes on where it was)"
	@echo "make clean   remove the environment and what the other targets made"

demo: .venv/demo
	$(BIN)/chsic demo --out demo

# As many processes as cores share the tests, so one thread is enough for the BLAS of each.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal

test: .venv/dev
	$(PYTEST) -m "not levels" --cov=chsic --cov-report=term:skip-covered --cov-fail-under=95

test-levels: .venv/dev
	$(PYTEST) -m levels tests

test-adapters: .venv-adapters/ready
	.venv-adapters/bin/python -m pytest tests/adapters src/chsic/adapters
	.venv-adapters/bin/python -m pytest -W ignore docs/howto docs/coming-from

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

package: .venv/dev
	$(BIN)/python tools/check_package.py

docs: .venv/docs
	$(BIN)/sphinx-build -W --keep-going --quiet -b html -d build/doctrees docs build/docs
	@echo build/docs/index.html

licences: .venv/bench .venv/docs
	$(BIN)/python tools/licences.py

figure: .venv/demo
	$(BIN)/chsic figure1 --trials 200 --seed 0 --out docs/images

pictures: .venv/dev
	$(BIN)/python examples/make_pictures.py

bench: .venv/bench
	$(BIN)/python -m benchmarks.laplacian
	$(BIN)/python -m benchmarks.targets
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.screening
	$(BIN)/python -m benchmarks.reader
	$(BIN)/python -m benchmarks.discovery
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.malloc

against: .venv/dev
	$(BIN)/python -m benchmarks.against $(COMMIT)

fuzz: .venv/dev
	$(BIN)/python -m benchmarks.attack

failures: .venv/dev
	$(BIN)/python -m benchmarks.failures
	$(BIN)/python -m benchmarks.roughness

measures: .venv/bench
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.measures

calibration: .venv/bench
	$(BIN)/python -m benchmarks.calibration --reduced

calibration-full: .venv/bench
	$(BIN)/python -m benchmarks.calibration

# The pip beside PYTHON installs into the environment, so that systems which ship Python without
# ensurepip (Debian's python3 without python3-venv) work too.
PIP_INSTALL := $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check install --quiet

.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit("chsic needs Python 3.11 or newer; this is " + sys.version.split()[0] + ": call make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --without-pip .venv
	@touch $@

.venv/demo: .venv/python pyproject.toml
	$(PIP_INSTALL) --editable '.[cli,plot,report]'
	@touch $@

.venv/dev: .venv/python pyproject.toml
	$(PIP_INSTALL) --editable '.[dev]'
	@touch $@ .venv/demo

.venv/docs: .venv/python pyproject.toml
	$(PIP_INSTALL) --editable '.[docs]'
	@touch $@

.venv-adapters/ready: pyproject.toml requirements/adapters.txt
	$(PYTHON) -m venv --without-pip .venv-adapters
	$(PYTHON) -m pip --python .venv-adapters/bin/python --disable-pip-version-check install --quiet \
	  --editable '.[cli,plot,report]' pytest hypothesis --requirement requirements/adapters.txt
	@touch $@

.venv/bench: .venv/dev
	$(PIP_INSTALL) --editable '.[dev,bench]'
	@touch $@

clean:
	rm -rf .venv .venv-adapters build demo dist docs/gallery docs/reference/generated test-artefacts .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
