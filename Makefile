# The front door: each target is a script in scripts/. `make help` lists them.
.PHONY: help run build install uninstall test lint format conformance fuzz sanitize image-test bench soak clean
.DEFAULT_GOAL := help

help: ## list these targets
	@sed -n 's/^\([a-z-]*\): *## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

run: ## install what is missing, build, and start the demo bridge on 127.0.0.1:8080 (ARGS="--listen 127.0.0.1:9000")
	@exec scripts/run $(ARGS)

build: ## build the release binary, .build/release/wsbridge
	@exec scripts/build

export PREFIX DESTDIR
install: ## put the program, its man page, completions, presets and units below /usr/local (PREFIX=/usr, DESTDIR=…)
	@exec scripts/install

uninstall: ## take away what `make install` put there
	@exec scripts/install --remove

test: ## everything: lint, build, unit tests, end-to-end tests; fails if anything was skipped
	@exec scripts/test

lint: ## check format and style of Swift, shell, Python and prose
	@exec scripts/lint

format: ## rewrite Swift and Python sources in the project's format
	@exec scripts/format

conformance: ## the Autobahn test suite against the WebSocket client
	@exec scripts/conformance

export FUZZ_SECONDS
fuzz: ## fuzz what peers, users and the kernel can send, and the HTTP API, for some minutes (FUZZ_SECONDS=3600 for longer)
	@exec scripts/fuzz

sanitize: ## the end-to-end tests with the thread and the address sanitizer (half an hour; SANITIZER=thread for one)
	@exec scripts/sanitize $(SANITIZER)

image-test: ## build the image from the Dockerfile and try it out (root; no Docker engine needed)
	@exec scripts/image-test

export BENCH_ROUNDS BENCH_SECONDS BENCH_OUTPUT
bench: ## measure against the bare limit, Nchan and aiohttp, into Benchmarks/RESULTS.md (about 11 minutes)
	@exec scripts/bench

export SOAK_TIMES SOAK_CROWD SOAK_KILLS SOAK_MINUTES SOAK_OUTPUT
soak: ## look for what connections, kill -9 and an hour of everything leave behind, into Benchmarks/RESULTS.md (75 minutes)
	@exec scripts/soak

clean: ## remove everything that was built or installed into this folder
	@rm -rf .build .venv .cache reports
