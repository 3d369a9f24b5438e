# Each target sets up what it needs, in .venv and static/vendor; nothing is installed elsewhere.
# The two that matter: `make demo` (or `make run`) and `make test`.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
VENDOR := static/vendor/.stamp
# Two processes for each core, since tests wait for browsers, disks and polls; those of one file share a server or a
# browser, so they stay together.
PROCESSES := $(shell $(PYTHON) -c 'import os; print(min(6, 2 * os.cpu_count()))')
# Homes of tests lie in memory where there is much room: they are synced and deleted all the time.
IN_MEMORY := $(shell $(PYTHON) -c 'import os; at = "/dev/shm"; there = os.path.isdir(at) and os.statvfs(at); \
    print(at if there and there.f_bavail * there.f_frsize >> 33 and not there.f_flag & os.ST_NOEXEC else "")')
# The order is that of tests/conftest.py. A process that died is replaced twice at most, since another one begins with
# the very test that it died of.
PYTEST := $(BIN)/pytest --numprocesses $(PROCESSES) --dist loadfile --no-loadscope-reorder --max-worker-restart=2 \
    --durations=20 --durations-min=1

# Some machines say not to keep bytecode: each process that a test starts would compile the whole service anew.
unexport PYTHONDONTWRITEBYTECODE

ifneq ($(IN_MEMORY),)
test every-test: export TMPDIR := $(IN_MEMORY)
endif

.PHONY: run demo test soak check checked every-test formatted typed js-typed fresh collected bench gen format clean
.DEFAULT_GOAL := run

run: $(STAMP) $(VENDOR)  ## start the service on http://127.0.0.1:4780
	$(BIN)/svc serve

demo: export PROVIDERS := fake
demo: export SVC_SEED := mock-world
demo: export SVC_HOME ?= $(CURDIR)/.cache/demo
demo: $(STAMP) $(VENDOR)  ## the same with the fake providers and a small company's mail
	$(BIN)/svc serve

# What one runs all day. The journeys drive the whole program as processes; the looks walk each page in every size and
# colour; the thorough ones take more than a second each (a corpus, days, an enumeration, real programs); peers are
# outside systems.
test: $(STAMP) $(VENDOR)  ## the tests, but for journeys, looks, peers and thorough ones, which take longer; skips say what is missing
	$(PYTEST) -m "not journey and not thorough and not peer and not look"

soak: export SVC_SOAK := 1
soak: $(STAMP) $(VENDOR)  ## the same in large sizes (tests/sizes.py), for a night; SOAK=tests/mail does a part
	$(PYTEST) -o faulthandler_timeout=14400 $(SOAK)

check: checked every-test  ## format, lint, types, JS types, generated files fresh, every test

# The two halves of it.
checked: $(STAMP) $(VENDOR)
	$(MAKE) --jobs=2 formatted typed js-typed fresh collected

every-test: $(STAMP) $(VENDOR)
	$(PYTEST)

formatted:
	$(BIN)/ruff format --check svc tests benchmarks hatch_build.py
	$(BIN)/ruff check svc tests benchmarks hatch_build.py

typed:
	$(BIN)/mypy

js-typed:
	cd static && npx --no-install tsc --noEmit -p jsconfig.json

fresh:
	$(BIN)/python -m svc.generate --check

# Compiles all tests once, before several processes each load all of them. The tests report errors.
collected:
	-$(BIN)/pytest --collect-only > /dev/null

bench: $(STAMP) $(VENDOR)  ## ratios against peers and limits, measured in one run
	$(BIN)/python -m benchmarks

gen: $(STAMP)  ## write the generated pages of docs/ and the golden schema
	$(BIN)/python -m svc.generate

format: $(STAMP)
	$(BIN)/ruff format svc tests benchmarks hatch_build.py
	$(BIN)/ruff check --fix svc tests benchmarks hatch_build.py

clean:
	rm -rf $(VENV) .cache static/vendor static/node_modules

$(VENDOR): static/package.json static/package-lock.json static/vendor.mjs
	@command -v npm >/dev/null || { echo "Building svc from source needs Node.js 20 or newer (npm was not found)." >&2; exit 1; }
	npm ci --prefix static --no-audit --no-fund --loglevel=error
	node static/vendor.mjs
	@touch $@

# Bytecode is left to the first use, which needs a small part of it.
$(STAMP): pyproject.toml hatch_build.py $(VENDOR)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "svc needs Python 3.11 or newer.")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[dev]'
	@touch $@
