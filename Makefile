# `make book` and `make test` do all the set-up; they need Python >= 3.11 and make. `make help` lists the rest.
# PYTHON: the Python that .venv is made from.  JOBS: chapters and tests at a time.  CONSTRAINTS: /dev/null for the newest versions.
PYTHON ?= python3
JOBS ?= 2
CONSTRAINTS ?= constraints.txt

VENV := .venv
BIN := $(VENV)/bin
SITE := _build/html/index.html
BUILT := _build/html/.built# set when the build came to its end
SOURCES := $(wildcard _config.yml _toc.yml *.md CITATION.cff LICENSE constraints.txt benchmarks/*.md tools/calibration/*.md) \
	$(shell find book notebooks mtmeta -type f -not -path '*/.*' -not -path '*/__pycache__/*' 2>/dev/null)
BROWSER := tests/browser
BENCHMARKS := $(wildcard benchmarks/bench_*.py)
PAGES ?= ipynb
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
TO_PDF := --headless --no-sandbox --disable-gpu --no-pdf-header-footer --generate-pdf-document-outline --disable-pdf-tagging --virtual-time-budget=600000
MUTATED ?= significance aggregation sysdep ties agreement estimation differences raters
MUTATED_PLACES ?= 160
LOWEST_SCORE ?= 0.8

# One thread a process: the arrays are small, and a thread pool in each of several processes only gets in its own way.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help book site pdf test test-fast test-real-data test-exhaustive matrix lint notebooks bench calibration mutation browser-deps linkcheck constraints clean distclean

##@ The book, from a clone

help: ## list the targets
	@awk -F ':.*## ' '/^##@ / {print substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "error: Python >= 3.11 is needed; found: $$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "error: $(PYTHON) cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(VENV)/.installed-book: $(BIN)/python pyproject.toml $(CONSTRAINTS)
	@echo "== installing mtmeta and what builds the book into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e '.[book]'
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed-book
	@echo "== installing what the tests need into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) -e '.[book,excel,sentinel,test]' implicit
	@touch $@

book: $(VENV)/.installed-book ## execute the chapters and build the site
	@echo "== executing the chapters and building the site"
	@$(BIN)/python tools/make_book.py --jobs $(JOBS) book
	@touch $(BUILT)
	@echo "Read it:    $(CURDIR)/$(SITE)"
	@echo "Serve it:   $(BIN)/python -m http.server --directory _build/html 8000, then open http://localhost:8000"

$(BUILT): $(SOURCES) | $(VENV)/.installed-book
	@echo "== building the site from the stored outputs"
	@$(BIN)/python tools/make_book.py book --no-execute
	@touch $@

site: $(BUILT) ## build the site from the stored outputs, if a source has changed since

pdf: $(BUILT) ## print the book, the chapters without solutions and the slides into _build/pdf; needs Chromium
	@[ -n "$(CHROMIUM)" ] || { echo "error: Chromium is needed; name one: make pdf CHROMIUM=..." >&2; exit 1; }
	@$(BIN)/python book/_ext/teaching.py
	@cd _build/html && for page in handouts/*.html slides/*.html; do \
		echo "== _build/pdf/$${page%.html}.pdf" && mkdir -p ../pdf/$${page%/*} && \
		"$(CHROMIUM)" $(TO_PDF) --print-to-pdf="$(CURDIR)/_build/pdf/$${page%.html}.pdf" "file://$(CURDIR)/_build/html/$$page" 2>/dev/null || exit 1; done

##@ For whoever changes something

# The tests execute the notebooks and compare their outputs with the stored ones, so the site for the tests need not.
test: lint $(BUILT) browser-deps ## lint, doctests, unit tests, chapters, site; .ci/run also runs three pages on real data
	@echo "== tests"
	@$(BIN)/python -m pytest -n $(JOBS) --durations=25

test-fast: $(VENV)/.installed-test ## the quick part: no lint, no site, no notebooks, no real data
	@env -u MTMETA_DATA $(BIN)/python -m pytest -n $(JOBS) -m "not slow and not browser and not exhaustive" --ignore=tests/test_site.py

test-real-data: $(VENV)/.installed-test ## execute the pages on real data (PAGES: some of them) and compare their outputs
	@$(BIN)/python -m pytest -n $(JOBS) -m data -k "real_data and ($(PAGES))" --durations=0 tests/test_notebooks.py

test-exhaustive: $(VENV)/.installed-test $(BUILT) browser-deps ## what takes too long for each change: pages on real data, locales, all pages in a browser, wider searches
	@$(BIN)/python -m pytest -n $(JOBS) -m exhaustive --durations=25

lint: $(VENV)/.installed-test ## check code and stored notebooks; change nothing
	@echo "== lint"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || { echo "error: not formatted; run: $(BIN)/ruff format" >&2; exit 1; }
	@$(BIN)/python tools/normalise_notebooks.py --check notebooks
	@$(BIN)/python tools/launch.py --check

notebooks: $(VENV)/.installed-test ## re-execute the stored notebooks in place
	@$(BIN)/python tools/make_book.py --jobs $(JOBS) refresh $$(find notebooks -name '*.ipynb' -not -path '*/.*' | sort)
	@$(BIN)/python tools/launch.py

##@ Developer tools: slow, and needed now and then

matrix: $(BIN)/python ## notebooks and tests with each Python here, and the tested, the newest and the oldest packages; installs nox
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check nox
	@JOBS=$(JOBS) $(BIN)/nox

bench: $(VENV)/.installed-test ## speed and memory; writes benchmarks/RESULTS.md
	@mkdir -p _build
	@$(BIN)/python -m pytest --benchmark-only --benchmark-json=_build/benchmarks.json -q $(BENCHMARKS)
	@$(BIN)/python benchmarks/table.py _build/benchmarks.json

calibration: $(VENV)/.installed-test ## how often tests and intervals err, on WMT23 too where MTMETA_DATA has it; writes tools/calibration
	@$(BIN)/python tools/calibration/measure.py --jobs $(JOBS)

mutation: $(VENV)/.installed-test ## break the statistics in many places: do tests fail? Installs Cosmic Ray, writes tests/MUTATION.md
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) cosmic-ray
	@rm -rf _build/mutation
	@printf '%s\n' $(MUTATED) | PATH="$(CURDIR)/$(BIN):$$PATH" xargs -P $(JOBS) -I % tests/mutation/run % $(MUTATED_PLACES)
	@$(BIN)/python tests/mutation/mutation_report.py $(LOWEST_SCORE)

browser-deps: ## install what drives the browser tests, if node is there
	@if [ ! -f $(BROWSER)/package.json ]; then echo "no browser tests: $(BROWSER)/package.json is absent"; \
	elif ! command -v npm >/dev/null; then echo "no node and npm: the browser tests will be skipped"; \
	elif [ ! $(BROWSER)/node_modules/.installed -nt $(BROWSER)/package.json ]; then \
		echo "== installing what drives the browser"; \
		if [ -f $(BROWSER)/package-lock.json ]; then verb=ci; else verb=install; fi; \
		npm --prefix $(BROWSER) $$verb --no-audit --no-fund --loglevel=error && touch $(BROWSER)/node_modules/.installed; fi

linkcheck: $(VENV)/.installed-book ## check the links of the book; needs the network
	@$(BIN)/python tools/make_book.py book --no-execute --builder linkcheck

constraints: ## rewrite constraints.txt from what .venv holds (install '.[all]' there first)
	@$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' | tr 'A-Z_' 'a-z-' | LC_ALL=C sort > constraints.txt

clean: ## delete what was built
	rm -rf _build out .pytest_cache .ruff_cache .hypothesis .benchmarks $(BROWSER)/node_modules

distclean: clean ## delete .venv too
	rm -rf $(VENV)
