# `make demo` and `make test` set up everything on a fresh Debian 12 machine, then do the work.
# What is in place already is left alone.

PYTHON ?= python3
VENV := .venv
VENV_PYTHON := $(VENV)/bin/python
DEBIAN_PACKAGES := clang-22 lld-22 llvm-22 clang-tools-22 clang-format-22 \
                   g++ python3-dev python3-venv
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
CXX_FILES = $(shell find csrc tests -name '*.h' -o -name '*.cpp' -o -name '*.hip')

.PHONY: demo test lint format build system clean

demo: build
	$(VENV_PYTHON) -m tq_ext.demo

# Two workers. Tests of one xdist_group share a worker.
test: build lint
	$(VENV_PYTHON) -m tests.build.rocm_files
	$(VENV_PYTHON) -m pytest -n 2 --dist loadgroup tests

lint: $(VENV)/installed system
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	clang-format-22 --dry-run -Werror $(CXX_FILES)

format: $(VENV)/installed system
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	clang-format-22 -i $(CXX_FILES)

build: $(VENV)/installed
	$(VENV_PYTHON) setup.py --quiet build_ext --inplace

$(VENV)/installed: requirements-dev.txt | system
	$(PYTHON) -m venv $(VENV)
	$(VENV_PYTHON) -m pip install --quiet --no-compile -r requirements-dev.txt
	touch $@

system:
	@dpkg-query --show $(DEBIAN_PACKAGES) >/dev/null 2>&1 || \
	  { $(SUDO) apt-get update && \
	    $(SUDO) apt-get install --yes --no-install-recommends $(DEBIAN_PACKAGES); }

clean:
	rm -rf build tq_ext/*.so tq_ext.egg-info
