# For people: `make demo` and `make test` are all a newcomer needs. CMake does the work.
BUILD ?= build
JOBS  ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
# Several sources as one unit: the quick way from scratch. UNITY=OFF rebuilds one change faster.
UNITY ?= ON
export NINJA_STATUS = [%f of %t, %e s] 
CONFIGURE = cmake -S . -G Ninja -Wno-dev --log-level=WARNING -DISOSCOPE_UNITY=$(UNITY)

.PHONY: all demo demo-postgres demo-deps test test-live nightly sanitize bench bench-smallest build-bench papers fuzz format \
        check-format lint install deb clean deps test-deps format-deps live-deps dev-deps

all: deps                     ## release build; the program is build/isoscope
	@echo "Building isoscope (three to six minutes the first time on two cores) ..."
	@$(CONFIGURE) -B $(BUILD) -DISOSCOPE_TESTS=OFF
	@cmake --build $(BUILD) -j $(JOBS)
	@ln -sf src/cli/isoscope $(BUILD)/isoscope

demo: all                     ## a walk through the commands on the embedded examples
	@$(BUILD)/isoscope demo

demo-postgres: demo-deps all  ## records an application on a private PostgreSQL server
	@scripts/demo-postgres.sh $(BUILD)/isoscope

test: test-deps               ## build and run every test
	@echo "Building isoscope and its tests (about ten minutes the first time on two cores) ..."
	@$(CONFIGURE) -B $(BUILD) -DISOSCOPE_TESTS=ON -DISOSCOPE_LIVE=OFF
	@cmake --build $(BUILD) -j $(JOBS)
	@ln -sf src/cli/isoscope $(BUILD)/isoscope
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) --progress

test-live: live-deps          ## the tests that talk to other programs: databases, browsers
	@$(CONFIGURE) -B $(BUILD) -DISOSCOPE_TESTS=ON -DISOSCOPE_LIVE=ON
	@cmake --build $(BUILD) -j $(JOBS) --target live_tests
	@scripts/test-live.sh $(BUILD)

nightly: dev-deps             ## sanitizers, clang-tidy, fuzzers and benchmarks; takes hours
	@scripts/nightly.sh

sanitize: test-deps           ## the tests under AddressSanitizer and UBSan
	@$(CONFIGURE) -B $(BUILD)-sanitize -DISOSCOPE_SANITIZE=ON -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS='-O1 -g1'
	@cmake --build $(BUILD)-sanitize -j $(JOBS)
	@ISOSCOPE_FUZZ_SHARE=20 ctest --test-dir $(BUILD)-sanitize --output-on-failure -j $(JOBS)

bench: build-bench            ## benchmarks; see docs/PERFORMANCE.md
	@scripts/bench.sh $(BUILD)

bench-smallest: build-bench   ## every benchmark and table once, at its smallest size
	@bench/smallest.py $(BUILD)

build-bench: dev-deps
	@$(CONFIGURE) -B $(BUILD) -DISOSCOPE_BENCH=ON
	@cmake --build $(BUILD) -j $(JOBS)
	@ln -sf src/cli/isoscope $(BUILD)/isoscope

fuzz: dev-deps                ## readers and engines under libFuzzer; see tests/fuzz/README.md
	@CXX=clang++ CC=clang $(CONFIGURE) -B $(BUILD)-fuzz -DISOSCOPE_FUZZ=ON -DISOSCOPE_TESTS=OFF \
	  -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS='-O1 -g1'
	@cmake --build $(BUILD)-fuzz -j $(JOBS) --target fuzzers
	@scripts/fuzz.sh $(BUILD)-fuzz

lint: dev-deps                ## clang-tidy over the sources; CHANGED=REF for those that differ from it
	@CXX=clang++ CC=clang $(CONFIGURE) -B $(BUILD)-lint -DISOSCOPE_TESTS=OFF
	@JOBS=$(JOBS) scripts/lint.sh $(BUILD)-lint $(if $(CHANGED),--changed $(CHANGED))

format: format-deps           ## lay out every source
	@scripts/format.sh

check-format: format-deps     ## is every source laid out?
	@scripts/format.sh --check

papers: all                   ## repeats what four papers claim; see docs/papers
	@bench/papers.py $(BUILD)/isoscope

install: all                  ## into PREFIX (default /usr/local)
	@cmake --install $(BUILD) --prefix $(or $(PREFIX),/usr/local)

deb: all                      ## a Debian package, build/isoscope_VERSION_ARCH.deb
	@scripts/make-deb.sh $(BUILD)

deps:
	@scripts/install-deps.sh
demo-deps:
	@scripts/install-deps.sh demo
test-deps:
	@scripts/install-deps.sh test
format-deps:
	@scripts/install-deps.sh format
live-deps:
	@scripts/install-deps.sh live
dev-deps:
	@scripts/install-deps.sh dev

clean:
	@rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-fuzz $(BUILD)-lint
