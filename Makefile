# gasm: every command a developer needs. `make` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GO ?= scripts/go.sh
# Packages that were compiled in another folder are the same then: a new clone takes them from the cache.
export GOFLAGS := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)
MVN ?= mvn
# Maven works for seconds, in which C2's code does not pay: without it, a build needs half of the CPU time.
BUILD_JAVA = MAVEN_OPTS="$${MAVEN_OPTS:-} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC" $(MVN) -q -B -Dstyle.color=never
FUZZTIME ?= 60s
VERSION = $(shell git describe --always --dirty 2>/dev/null || echo unknown)
TARGETS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64

BENCH := testdata/benchmarks
JAR := $(BENCH)/target/benchmarks.jar
JAR_SOURCES := $(BENCH)/pom.xml $(shell find $(BENCH)/src -name '*.java')
PERFASM := testdata/perfasm
PERFASM_JAR := $(PERFASM)/target/perfasm.jar
PERFASM_SOURCES := $(PERFASM)/pom.xml $(shell find $(PERFASM)/src -name '*.java')
BROWSERTEST := report/page/browsertest
PACKAGING := packaging
COLLECTORTEST := push/otlp/collectortest
GO_THERE = $(if $(findstring /,$(GO)),$(abspath $(GO)),$(GO)) # for BROWSERTEST and PACKAGING, modules of their own
# Of a release's packages: the tag v1.2.3 of the commit, or what is in front of all versions.
RELEASE ?= $(shell git describe --exact-match --match 'v[0-9]*' 2>/dev/null | sed 's/^v//' | grep . || \
	echo "0.0.0-dev.$$(git rev-list --count HEAD).$$(git rev-parse --short HEAD)")
SUREFIRE := testdata/surefire
SUREFIRE_DONE := $(SUREFIRE)/target/tested
SUREFIRE_SOURCES := $(SUREFIRE)/pom.xml $(shell find $(SUREFIRE)/src -name '*.java')
LANGUAGES := testdata/languages
LANGUAGES_DONE := $(LANGUAGES)/target/compiled
LANGUAGES_SOURCES := $(LANGUAGES)/pom.xml $(shell find $(LANGUAGES)/src -type f)
APPLICATIONS := testdata/applications
APPLICATIONS_DONE := $(APPLICATIONS)/target/compiled
APPLICATIONS_SOURCES := $(APPLICATIONS)/pom.xml $(shell find $(APPLICATIONS)/src -type f)
JMH := integrations/jmh
JMH_JAR := $(JMH)/target/gasm-jmh.jar
JMH_SOURCES := $(JMH)/pom.xml $(shell find $(JMH)/src -type f)
AGENT := agent
DEMO := java -jar $(JAR) -f 1 -wi 2 -w 1 -i 3 -r 1 VectorSum

# step prints one line saying what is about to happen.
step = @echo "==> $(1)"

.PHONY: help setup build dist agent benchmarks perfasm jmh surefire languages applications java demo test test-all features test-arm64 check lint spare-lint unit live pages tests tests-after-setup golden bench fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is missing on this machine
	$(call step,setting up this machine)
	@scripts/setup.sh test

build: ## build bin/gasm
	$(call step,building bin/gasm)
	@CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags "-X main.version=$(VERSION)" -o bin/gasm ./cmd/gasm

dist: ## build all of a release in dist/: archives, .deb, .rpm, sums, an SBOM, an image, a Homebrew formula (RELEASE=1.2.3)
	$(call step,building dist/ for $(RELEASE))
	@cd $(PACKAGING) && $(GO_THERE) run . -go $(GO_THERE) -version "$(RELEASE)" -time "$$(git log -1 --format=%ct)" -out ../dist

benchmarks: $(JAR) ## build the JMH benchmarks that the demo and the tests run

$(JAR): $(JAR_SOURCES)
	$(call step,building $(JAR))
	@$(BUILD_JAVA) -f $(BENCH)/pom.xml package
	@touch $(JAR)

perfasm: $(PERFASM_JAR) ## build the JMH perfasm that the tests compare gasm with

$(PERFASM_JAR): $(PERFASM_SOURCES)
	$(call step,building $(PERFASM_JAR))
	@$(BUILD_JAVA) -f $(PERFASM)/pom.xml package
	@touch $(PERFASM_JAR)

jmh: $(JMH_JAR) ## build gasm-jmh.jar, JMH's profiler -prof gasm

$(JMH_JAR): $(JMH_SOURCES)
	$(call step,building $(JMH_JAR))
	@$(BUILD_JAVA) -f $(JMH)/pom.xml package
	@touch $(JMH_JAR)

surefire: $(SUREFIRE_DONE) ## fetch what Maven needs for the tests in forks that gasm is tested with

$(SUREFIRE_DONE): $(SUREFIRE_SOURCES)
	$(call step,testing $(SUREFIRE))
	@$(BUILD_JAVA) -f $(SUREFIRE)/pom.xml -Dsec=0.1 test
	@touch $(SUREFIRE_DONE)

languages: $(LANGUAGES_DONE) ## build the programs in Scala and Kotlin whose source lines the tests look for, and fetch Graal

$(LANGUAGES_DONE): $(LANGUAGES_SOURCES)
	$(call step,building $(LANGUAGES))
	@$(BUILD_JAVA) -f $(LANGUAGES)/pom.xml compile
	@touch $(LANGUAGES_DONE)

applications: $(APPLICATIONS_DONE) ## fetch and build large programs, whose call stacks bench -only stacks compares

$(APPLICATIONS_DONE): $(APPLICATIONS_SOURCES)
	$(call step,building $(APPLICATIONS))
	@$(BUILD_JAVA) -f $(APPLICATIONS)/pom.xml compile
	@touch $(APPLICATIONS_DONE)

agent: ## build the agent that probes methods, which is a part of gasm (hotspot/probe/agent.jar)
	$(call step,building hotspot/probe/agent.jar)
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	$(BUILD_JAVA) -Dgasm.target="$$dir" -f $(AGENT)/pom.xml package && cp "$$dir/agent.jar" hotspot/probe/agent.jar

demo: ## set up, build, and profile a JMH benchmark
	$(call step,setting up this machine)
	@scripts/setup.sh demo
	@$(MAKE) build benchmarks
	$(call step,bin/gasm profile -- $(DEMO))
	@bin/gasm profile -- $(DEMO)

test: ## set up, and run every check there is: the stages lint, unit, live and pages
	@scripts/setup.sh demo # Go, with which lint runs, and a JDK and Maven: both are busy while setup waits for what it downloads
	@$(MAKE) -j3 spare-lint tests-after-setup

# lint beside what waits: for downloads, and for JVMs.
spare-lint:
	@nice -n 15 $(MAKE) lint

tests-after-setup: setup java
	@$(TESTS)

test-all: ## make test with every JDK of the machine, and with all that takes too long for each change
	@GASM_TESTS=all $(MAKE) test

check: lint tests ## the checks alone, on a machine that is set up

java: benchmarks perfasm jmh surefire languages ## build all that the tests need in Java

features: build ## try gasm's features on this machine, with the JDK on the PATH, and print a table (SUDO=sudo: as root)
	$(call step,trying features)
	@mkdir -p bin/classes; javac -g -Xlint:-options --release 8 -d bin/classes testdata/programs/Shares.java testdata/programs/Features.java
	@CGO_ENABLED=0 $(GO) build -buildvcs=false -o bin/features ./internal/features
	@$(SUDO) bin/features -gasm bin/gasm -classes bin/classes "$$(dirname "$$(dirname "$$(readlink -f "$$(command -v java)")")")"

test-arm64: ## set up, and try gasm's features on aarch64, in a machine that QEMU emulates (half an hour, 3 GB)
	$(call step,setting up this machine)
	@scripts/setup.sh arm64
	@scripts/arm64.sh image
	@scripts/arm64.sh test

lint: ## stage 1: gofmt, go vet and staticcheck, and builds for all platforms
	$(call step,gofmt)
	@fmt="$$($(GO) env GOROOT)/bin/gofmt"; [ -x "$$fmt" ] || fmt=gofmt; \
	files=$$(find . -path './testdata/*/*' -prune -o -name '*.go' -print0 | xargs -0 "$$fmt" -l) || exit 1; if [ -n "$$files" ]; then echo "not formatted:"; echo "$$files"; exit 1; fi
	$(call step,go vet)
	@export CGO_ENABLED=0; $(GO) vet ./...; \
	for dir in $(BROWSERTEST) $(PACKAGING); do (cd $$dir && $(GO_THERE) vet ./...) || exit 1; done
	@# The collector takes minutes to compile. This fails if its go.mod does not match ours any more.
	@cd $(COLLECTORTEST) && $(GO_THERE) list -m all >/dev/null
	@# With -trimpath, the builds below use what vet compiles for these platforms.
	$(call step,go vet for darwin/arm64)
	@CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) vet -trimpath ./...
	$(call step,go vet for linux/arm64)
	@CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) vet -trimpath ./...
	$(call step,staticcheck)
	@CGO_ENABLED=0 $(GO) tool staticcheck ./...
	@# Outside of this module it is run by its own name, and looks for go on the PATH.
	@tool=$$($(GO) tool -n staticcheck); PATH="$$($(GO) env GOROOT)/bin:$$PATH"; export PATH CGO_ENABLED=0; \
	for dir in $(BROWSERTEST) $(PACKAGING); do (cd $$dir && "$$tool" ./...) || exit 1; done
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	for target in $(TARGETS); do \
		echo "==> building for $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -trimpath -buildvcs=false -o "$$dir/" ./cmd/gasm || exit 1; \
	done

unit: ## stage 2: the tests of packages that neither sample nor start JVMs
	@$(call gotest,unit)

live: java ## stage 3: the tests with samplers and JVMs
	@$(call gotest,live)

pages: ## stage 4: the tests of pages in a browser, and of what a release consists of
	@$(call gotest,pages)

tests: java
	@$(TESTS)

TESTS = $(call gotest,unit live pages)

# gotest runs the tests of stages, and lists the slowest and the skipped ones at the end.
define gotest
	echo "==> go test: $(1)"; \
	events=$$(mktemp); trap 'rm -f "$$events"' EXIT; result=0; \
	$(GO) tool gotestsum --format pkgname --hide-summary skipped --jsonfile "$$events" --raw-command -- \
		env GO="$(GO)" scripts/gotest.sh $(1) || result=$$?; \
	echo "==> the slowest tests"; $(GO) tool gotestsum tool slowest --num 25 --threshold 1s --jsonfile "$$events" | sed 's/^/    /'; \
	$(GO) run ./internal/skips $(if $(CI),-expected .ci/expected-skips.txt) "$$events" || result=$$?; \
	exit $$result
endef

golden: ## rewrite the golden files from what the code does now
	@dirs=$$(grep -rl --include='*_test.go' 'gasmtest\.Golden' . | sed 's|/[^/]*$$||' | sort -u); \
	if [ -z "$$dirs" ]; then echo "no package has golden files"; exit 1; fi; \
	for dir in $$dirs; do \
		echo "==> rewriting the golden files of $$dir"; \
		$(GO) test "$$dir" -update || exit 1; \
	done

bench: build benchmarks ## measure every figure of PERFORMANCE.md (35 minutes)
	$(call step,measuring)
	@$(GO) run ./bench

fuzz: ## run each fuzz test for FUZZTIME (60s)
	@names=$$(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | \
		sed -E 's/^(.*)\/[^/]*:[0-9]+:func (.*)/\1 \2/' | sort); \
	if [ -z "$$names" ]; then echo "no package has a fuzz test"; exit 1; fi; \
	while read -r dir name; do \
		echo "==> fuzzing $$name in $$dir for $(FUZZTIME)"; \
		$(GO) test "$$dir" -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
	done <<<"$$names"

clean: ## remove what was built here
	$(call step,removing bin/ dist/ $(BENCH)/target/ $(PERFASM)/target/ $(LANGUAGES)/target/ $(JMH)/target/)
	@rm -rf bin dist gasm $(BENCH)/target $(PERFASM)/target $(LANGUAGES)/target $(JMH)/target
