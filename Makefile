# outerjoin_fdw
#
#   make && make install      build and install for the server of PG_CONFIG
#   make help                 everything else

MODULE_big = outerjoin_fdw
EXTENSION = outerjoin_fdw
DATA = src/outerjoin_fdw--1.0.sql
OBJS = $(patsubst %.c,%.o,$(wildcard src/*.c src/*/*.c))

# The first example makes the extension; every other test only wants it there.
REGRESS = first $(filter-out first,$(sort $(basename $(notdir $(wildcard sql/*.sql)))))

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)

# zlib, zstd, lz4: compressed text files
LIBRARIES = zlib libzstd liblz4

# -isystem: the server's headers are not clean under -Wextra, ours have to be.
# Versions before 16 leave PGDLLEXPORT empty, which would hide all of a module
# that is built with hidden visibility.
PG_CPPFLAGS = -Isrc \
	-isystem $(shell $(PG_CONFIG) --includedir-server) \
	-DPGDLLEXPORT='__attribute__((visibility("default")))' \
	$(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
PG_CFLAGS = -std=gnu11 -Wall -Wextra -Wno-declaration-after-statement \
	-O2 -ftree-vectorize -fvisibility=hidden
SHLIB_LINK = $(or $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null),-lz -lzstd -llz4)

EXTRA_CLEAN = build results regression.diffs regression.out

# Bitcode serves to inline functions that SQL expressions call. There are none.
override with_llvm = no

ifneq ($(wildcard $(PGXS)),)
include $(PGXS)

$(OBJS): Makefile $(wildcard src/*.h src/*/*.h)
else
all install installcheck:
	@echo "No PostgreSQL to build for: $(PG_CONFIG) does not lead to one." >&2
	@echo "\"make deps\" installs what is missing; PG_CONFIG=... names another." >&2
	@exit 1

clean:
	rm -rf $(OBJS) $(MODULE_big).so $(EXTRA_CLEAN)

.DEFAULT_GOAL = all
endif

# The commands below install what is missing first, then start over with a
# make that finds it.

deps:
	@PG_CONFIG="$(PG_CONFIG)" test/dependencies

demo:
	@PG_CONFIG="$(PG_CONFIG)" test/demo start

demo-stop:
	@PG_CONFIG="$(PG_CONFIG)" test/demo stop

test:
	@PG_CONFIG="$(PG_CONFIG)" test/run

# See test/fuzz/README.md.
TARGET ?= arrow

fuzz-replay:
	@test -n "$(CORPUS)" || { echo "Please say what to replay: make fuzz-replay CORPUS=/some/folder" >&2; exit 1; }
	@$(MAKE) -s -f test/unit/Makefile PG_CONFIG="$(PG_CONFIG)" BUILD=build/fuzz \
		SANITIZE=-fsanitize=address,undefined build/fuzz/test/fuzz/$(TARGET)
	@find "$(CORPUS)" -type f -print0 | \
		ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		xargs -0 build/fuzz/test/fuzz/$(TARGET) $(if $(filter arrow,$(TARGET)),--plain)

fixtures:
	@test/fixtures/make

bench:
	@PG_CONFIG="$(PG_CONFIG)" bench/run

help:
	@echo "make               build for the server that PG_CONFIG leads to (now: $(PG_CONFIG))"
	@echo "make install       install it there"
	@echo "make installcheck  run the regression tests on a running server"
	@echo "make deps          install what is missing to build, from the distribution"
	@echo "make demo          build, install, show the first example on a server of its own"
	@echo "make demo-stop     stop that server and remove it"
	@echo "make test          run every test, on servers of their own"
	@echo "make fuzz-replay   read every file of a folder with the fuzz target (CORPUS=/some/folder)"
	@echo "make fixtures      write sql/data/arrow anew (needs root and npm; no test needs it)"
	@echo "make bench         measure (see bench/README.md)"

.PHONY: deps demo demo-stop test fuzz-replay fixtures bench help
