# The developer's verbs. CMake does the building; this file knows the order of things.
# Packages it installs: docker/packages.txt. Everything it makes: build/.

JOBS ?= $(shell nproc)
ARGS ?= --dev
FUZZ_SECONDS ?= 60
DEBIAN ?= 13
PREFIX ?= /usr/local
BUILD_JOBS = --parallel $(JOBS)
# Most tests wait for most of their time.
CTEST = ctest --output-on-failure --no-tests=error --parallel $$((2 * $(JOBS))) --timeout 600

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help deps run build settings install uninstall package package-test release check test verify nightly \
    bench demo gate matrix lint fuzz format clean

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

settings: ## after a change of router/policy/config/config_table.c: write its page and JSON schema
	@docker/install-packages build test
	@$(call configure,dev)
	@cmake --build build $(BUILD_JOBS) --target test_config_docs
	@MCPX_WRITE=1 build/tests/test_config_docs --jobs 1

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

package-test: ## build the packages in a clean Debian 13 (DEBIAN=12), install, use, upgrade and purge them (root)
	@docker/install-packages inspect
	@tests/install/packages build/machines/packages$(DEBIAN) $(DEBIAN)

release: ## packages, source, bill of materials, checksums and a tag (VERSION=x.y.z; DRY_RUN=1 only looks)
	@test -n "$(DRY_RUN)" || docker/install-packages build package
	@docker/release $(if $(DRY_RUN),--dry-run) "$(VERSION)" build/release-$(VERSION)

check: ## what to run while you work: unit, scenario and conformance tests, replays, text rules; 2 minutes
	cmake --preset dev -DBUILD_TESTING=ON -DMCPX_WERROR=ON
	cmake --build build $(BUILD_JOBS)
	$(CTEST) --test-dir build --label-regex '^(unit|scenario|conformance|fuzz)$$'
	$(CTEST) --test-dir build --tests-regex '^lint_(layers|circles|style|ratchets|unused|pages|listed|format)$$'

test: deps ## build, then run what takes minutes: C tests under sanitizers, end-to-end tests, lint
	$(call ordinary_build)
	$(call sanitized_build)
	$(CTEST) --test-dir build --label-regex '^(lint|e2e|install|budget|attack|ordinary)$$' $(not_now)
	$(CTEST) --test-dir build/asan --label-exclude '^(lint|e2e|install|attack|verify|nightly)$$'

verify: deps ## what make test leaves out: sanitized e2e, threads, demos, conformance, Debian 13, arm64, packages
	$(call ordinary_build)
	$(call sanitized_build)
	cmake --preset tsan
	cmake --build build/tsan $(BUILD_JOBS) --target threads
	$(CTEST) --test-dir build/tsan --label-regex '^threads$$'
	$(CTEST) --test-dir build --label-regex '^(verify|secrets)$$'
	$(CTEST) --test-dir build/asan --label-regex '^(e2e|attack)$$' $(not_now)

nightly: verify fuzz ## verify, then hours: Debian 12, all of arm64, fuzzing, soaks, clang-tidy on all files
	cmake --build build $(BUILD_JOBS)
	$(CTEST) --test-dir build --label-regex '^(unit|scenario|integration|conformance|nightly)$$'
	$(soak) $(CTEST) --timeout 7200 --test-dir build --tests-regex \
	    '^(scenario_.*simulation|scenario_back_to_back|test_attack|e2e_(afternoon|durable|endurance|schemas|terms_moments|install))$$'

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

matrix: ## both eras of MCP through the bridge: what clients see that is not as on the server's own pipe
	@docker/install-packages build test
	@$(call configure,dev)
	@cmake --build build $(BUILD_JOBS) --target mcpx-router mcpx-bridge
	@MCPX_BINARY_DIR=$(CURDIR)/build tests/e2e/run.sh test matrix.test.mjs

lint: deps ## layers, headers, symbols, layout, static analysis, scripts
	@$(call ordinary_build)
	$(CTEST) --test-dir build --label-regex '^lint$$'

fuzz: ## run each fuzz target for FUZZ_SECONDS (60)
	@docker/install-packages build test fuzz
	@cmake --preset fuzz
	cmake --build build/fuzz $(BUILD_JOBS) --target fuzz
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run search

format: ## lay out all C files (on Debian 12, whose clang-format 14 is what decides)
	@docker/install-packages lint
	@command -v clang-format-14 >/dev/null || \
	    { echo "make format needs clang-format 14, which Debian 12 has: others lay files out differently" >&2; exit 1; }
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

# The builds of make test. In CI warnings are errors in both; elsewhere the one that everybody uses
# stays as make build leaves it, and a warning is an error in the other.
define ordinary_build
cmake --preset dev -DBUILD_TESTING=ON $(if $(CI),-DMCPX_WERROR=ON)
cmake --build build $(BUILD_JOBS) --target ordinary
endef
define sanitized_build
cmake --preset asan
cmake --build build/asan $(BUILD_JOBS)
endef
not_now = --label-exclude '^(verify|nightly)$$'

# How long the tests take that can be made longer. docs/testing.md has what these mean.
soak = MCPX_SIM_SEEDS=4000 MCPX_SEEDS=20000 MCPX_TABLE_SEEDS=1000 MCPX_ATTACK_SECONDS=60 MCPX_E2E_KILLS=60 \
    MCPX_E2E_MINUTES=10 MCPX_E2E_MOMENTS=200 MCPX_RANDOM_SCHEMAS=5000

# configure(preset): with the tests where their framework is installed.
configure = cmake --preset $(1) --log-level=WARNING \
    -DBUILD_TESTING=$$(pkg-config --exists criterion && echo ON || echo OFF)
