# Thin wrapper around cmake and ctest; `make help` lists what there is.
# Only `make install` installs anything.

BUILD = build
PREFIX = /usr/local
# Package builders set it in the environment.
DESTDIR ?=
CMAKE = cmake
CMAKE_FLAGS =
# A warning is an error for those who change the code; WERROR=OFF to build only.
WERROR = ON
HF_SIM_SEEDS = 2000
HF_SIM_MORE = 18000
SAN_SIM_SEEDS = 1000
FUZZ_SECONDS = 60
SOAK_SEEDS = 1000000
JOBS := $(shell nproc 2>/dev/null || echo 2)
GENERATOR := $(shell command -v ninja >/dev/null 2>&1 && echo -G Ninja)

CONFIGURE = $(CMAKE) $(GENERATOR) -S . -DHF_WERROR=$(WERROR) $(CMAKE_FLAGS) \
    >/dev/null
COMPILE = $(CMAKE) --build $(BUILD) -j $(JOBS)
# Tests wait most of the time: eight at once for each core.
TEST_JOBS = $$(($(JOBS) * 8))

all: configure
	$(COMPILE)

help:
	@echo 'make all       library, command, examples and tests, in $(BUILD)/'
	@echo 'make configure  only write the build files'
	@echo 'make run       take a lock on this host, and show its fence'
	@echo 'make test      all tests but the slow ones, in some minutes'
	@echo 'make slow      those: more seeds, models, failing allocations...'
	@echo 'make test-all  both, in one run'
	@echo 'make tidy      check format, layers, banned calls; clang-tidy'
	@echo 'make format    let clang-format set every C file'
	@echo 'make san       all tests with address, undefined, thread sanitizer'
	@echo 'make fuzz      each fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS), and its coverage'
	@echo 'make bench     measure, against plain C clients'
	@echo 'make soak      the simulator with SOAK_SEEDS=$(SOAK_SEEDS)'
	@echo 'make model     check the small models of docs/model with TLC'
	@echo 'make soak-model  and the large ones, an hour or more'
	@echo 'make versions  the redis tests on each server that is installed'
	@echo 'make interop   with the real Redisson, redsync, redis-py and others'
	@echo 'make lab-pictures  the drawings of docs/lab, from real runs'
	@echo 'make install   PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)'
	@echo 'make clean     remove the build folders'

configure:
	$(CONFIGURE) -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) \
	    -DHF_SIM_SEEDS=$(HF_SIM_SEEDS) -DHF_SIM_MORE=$(HF_SIM_MORE)

product: configure
	$(COMPILE) --target holdfast holdfast_shared holdfast_static modules

run: product
	$(BUILD)/holdfast run demo -- sh -c \
	    'echo "I hold the lock $$HOLDFAST_LOCK, my fence is $$HOLDFAST_FENCE"'

test: all
	sh tools/tests.sh $(BUILD) -LE slow -j $(TEST_JOBS)

slow: all
	sh tools/tests.sh $(BUILD) -L slow -j $(TEST_JOBS)

test-all: all
	sh tools/tests.sh $(BUILD) -j $(TEST_JOBS)

tidy:
	sh tools/tidy.sh

format:
	find include src cli lab test bench examples \
	    \( -name '*.[ch]' -o -name '*.[ch]pp' \) \
	    -exec clang-format -i {} +

# The second is built while the tests of the first wait, at the lowest priority.
san: asan-build tsan-configure
	nice -n 19 $(CMAKE) --build build-tsan -j $(JOBS) >build-tsan/log 2>&1 & \
	    built=$$!; failed=0; \
	    sh tools/san.sh build-asan || failed=1; \
	    wait $$built || { cat build-tsan/log; exit 1; }; \
	    sh tools/san.sh build-tsan || failed=1; \
	    exit $$failed

asan tsan: %: %-build
	sh tools/san.sh build-$@

asan-build tsan-build: %-build: %-configure
	$(CMAKE) --build build-$* -j $(JOBS)

# A compiler that instruments warns of what is not there.
asan-configure tsan-configure: %-configure:
	$(CONFIGURE) -B build-$* -DHF_SIM_SEEDS=$(SAN_SIM_SEEDS) -DHF_SIM_MORE=0 \
	    -DHF_WERROR=OFF \
	    -DHF_SANITIZE=$(if $(filter asan,$*),address$(COMMA)undefined,thread)

COMMA = ,

fuzz:
	CC=clang $(CONFIGURE) -B build-fuzz -DHF_FUZZ=ON \
	    -DHF_SANITIZE=address,undefined
	$(CMAKE) --build build-fuzz -j $(JOBS) --target fuzzers
	JOBS=$(JOBS) sh tools/fuzz.sh build-fuzz $(FUZZ_SECONDS)

bench: product
	$(COMPILE) --target bench-programs
	$(BUILD)/bench/bench $(BENCH)

soak: configure
	$(COMPILE) --target sim
	$(BUILD)/test/sim run --seeds $(SOAK_SEEDS)

model:
	BUILD=$(BUILD) sh tools/model.sh small

soak-model:
	BUILD=$(BUILD) sh tools/model.sh long

versions: all
	sh tools/versions.sh $(BUILD)

interop: configure
	$(COMPILE) --target interop
	sh tools/interop.sh $(BUILD) $(INTEROP)

lab-pictures: product
	HOLDFAST=$(BUILD)/holdfast sh tools/lab_pictures.sh

install: product
	$(COMPILE) --target completions
	DESTDIR="$(DESTDIR)" $(CMAKE) --install $(BUILD)

clean:
	rm -rf build build-asan build-tsan build-fuzz build-tidy

.PHONY: all help configure product run test slow test-all tidy format san asan tsan \
    asan-build tsan-build asan-configure tsan-configure fuzz \
    bench soak model soak-model versions interop lab-pictures install \
    clean
