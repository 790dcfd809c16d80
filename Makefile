# The developer's verbs. CMake does the building; this file knows the order of things.
# Packages it installs: docker/packages.txt. Everything it makes: build/.

JOBS ?= $(shell nproc)
ARGS ?= --dev
FUZZ_SECONDS ?= 60
PREFIX ?= /usr/local
BUILD_JOBS = --parallel $(JOBS)
# Most tests wait for most of their time.
CTEST = ctest --output-on-failure --no-tests=error --parallel $$((2 * $(JOBS))) --timeout 600

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help deps run build install uninstall package package-test release test bench demo gate lint fuzz \
    format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## build the router and start it for development on 127.0.0.1:8080 (ARGS="--dev --listen ...")
	@docker/install-packages build
	@$(call configure,dev)
	@cmake --build build $(BUILD_JOBS) --target mcpx-router
	@exec build/bin/mcpx-router $(ARGS)

build: ## build all programs into build/bin, and the tests when their tools are there
	@docker/install-packages build
	@$(call configure,dev)
	@cmake --build build $(BUILD_JOBS)

install: ## build for speed and install everything below PREFIX (/usr/local; DESTDIR=folder)
	@docker/install-packages build
	@$(as_owner) cmake --preset release --log-level=WARNING -DBUILD_TESTING=OFF \
	    -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX))
	@$(as_owner) cmake --build build/release $(BUILD_JOBS)
	@DESTDIR=$(DESTDIR) cmake --install build/release
	@chown --reference=. $(installed)
	@if [ "$(DESTDIR)" = "" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

uninstall: ## remove what make install put there (DESTDIR=folder); settings in /etc stay
	@test -f $(installed) || { echo "nothing is installed from this tree" >&2; exit 1; }
	@sed 's|^|$(DESTDIR)|' $(installed) | xargs -d '\n' rm -fv
	@sed -n 's|^|$(DESTDIR)|; s|/[^/]*$$||; /\/mcpx/{p; s|/examples$$||p}' $(installed) | sort -ru \
	    | xargs -d '\n' rmdir --ignore-fail-on-non-empty
	@rm $(installed)

package: ## build the Debian packages into build/packages
	@docker/install-packages build package
	@docker/package build/packages

package-test: ## build the packages in a clean Debian, install, use, upgrade and purge them (root)
	@docker/install-packages inspect
	@tests/install/packages build/package-test

release: ## packages, source, bill of materials, checksums and a tag (VERSION=x.y.z; DRY_RUN=1 only looks)
	@test -n "$(DRY_RUN)" || docker/install-packages build package
	@docker/release $(if $(DRY_RUN),--dry-run) "$(VERSION)" build/release-$(VERSION)

test: deps ## build, then run every test, the sanitizers' runs and the lint
	cmake --preset dev -DBUILD_TESTING=ON
	cmake --build build $(BUILD_JOBS)
	cmake --preset asan
	cmake --build build/asan $(BUILD_JOBS)
	cmake --preset tsan
	cmake --build build/tsan $(BUILD_JOBS) --target threads
	$(CTEST) --test-dir build
	$(CTEST) --test-dir build/asan --label-exclude '^(lint|install)$$'
	$(CTEST) --test-dir build/tsan --label-regex '^threads$$'

bench: ## build for speed, measure, print a table with targets (BENCH_CELLS="f100 hub", BENCH_JSON=file)
	@docker/install-packages build
	@$(call configure,release)
	@cmake --build build/release $(BUILD_JOBS) --target bench
	@tests/bench/run build/release $(if $(BENCH_JSON),--json $(BENCH_JSON)) $(BENCH_CELLS)

demo: ## real MCP programs in one room, shown step by step (DEMO=2; DEMO_PAUSE=1 waits between steps)
	@docker/install-packages build test
	@tests/e2e/quietly 'building the programs' sh -c '$(call configure,dev) && \
	    cmake --build build $(BUILD_JOBS) --target mcpx-router mcpx-bridge mcpxctl'
	@MCPX_BINARY_DIR=$(CURDIR)/build tests/e2e/run.sh demo $(DEMO)

gate: ## ask whether the sample MCP server may be released; the evidence goes to build/gate
	@docker/install-packages build test
	@$(call configure,dev)
	@cmake --build build $(BUILD_JOBS) --target mcpx-router mcpx-bridge mcpxctl
	@MCPX_BINARY_DIR=$(CURDIR)/build tests/e2e/run.sh gate $(CURDIR)/build/gate

lint: deps ## layers, headers, symbols, layout, static analysis, scripts
	@cmake --preset dev -DBUILD_TESTING=ON
	@cmake --build build $(BUILD_JOBS)
	$(CTEST) --test-dir build --label-regex '^lint$$'

fuzz: ## run each fuzz target for FUZZ_SECONDS (60)
	@docker/install-packages build test fuzz
	@cmake --preset fuzz
	cmake --build build/fuzz $(BUILD_JOBS) --target fuzz
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run search

format: ## lay out all C files
	@docker/install-packages lint
	git ls-files '*.c' '*.h' | xargs clang-format-14 -i

deps: ## install what building, testing and linting need (Debian, apt)
	@docker/install-packages build test lint inspect

clean: ## remove build/
	rm -rf build

# Before a command that makes files in build/: under sudo, too, they belong to who owns this tree.
as_owner = $(shell [ $$(id -u) -ne 0 ] || [ $$(stat -c %u .) -eq 0 ] || \
    stat -c 'setpriv --reuid=%u --regid=%g --clear-groups' .)

# The files that make install put somewhere, DESTDIR left out.
installed = build/release/install_manifest.txt

# configure(preset): with the tests where their framework is installed.
configure = cmake --preset $(1) --log-level=WARNING \
    -DBUILD_TESTING=$$(pkg-config --exists criterion && echo ON || echo OFF)
