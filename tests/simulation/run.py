"""Runs seeds in some processes, and tells which of them broke a law."""
# ruff: noqa: T201 - it is a command

import argparse
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, MutableMapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import unquote, urlsplit

import structlog

from echomq_worker.embedded import EmbeddedServer
from tests.simulation.laws import broken_laws
from tests.simulation.mutants import MUTANTS, apply_mutant
from tests.simulation.server import VirtualServer
from tests.simulation.world import World

CHUNK = 25
Told = tuple[int, list[str], str]
"""A seed, the laws that it broke, the digest of its trace."""


def main(arguments: Sequence[str]) -> int:
    """Run what the command line says; return the exit code."""
    options = _parser().parse_args(arguments)
    if os.environ.get("PYTHONHASHSEED") != "0":  # sets of texts have one order then
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(  # noqa: S606 - itself again
            sys.executable, [sys.executable, "-m", "tests.simulation", *arguments]
        )
    if options.seed is not None:
        return _show(options.seed, options.mutant, trace=options.trace)
    began, count, failed = time.monotonic(), 0, list[int]()
    for seed, broken, digest in _run_all(_seeds(options.seeds), options.jobs, options.mutant):
        count += 1
        if options.digests:
            print(seed, digest)
        if broken:
            failed.append(seed)
            print(f"seed {seed} broke {len(broken)} laws:", *broken[:5], sep="\n  ", flush=True)
            print(f"  see: python -m tests.simulation --seed {seed} --trace")
            if options.first:
                break
    took = time.monotonic() - began
    print(f"{count} seeds in {took:.1f} s, {len(failed)} failed: {failed[:20]}")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", default="0:100", help="FIRST:END, or a file with a seed a line")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    parser.add_argument("--seed", type=int, help="run one seed and tell about it")
    parser.add_argument("--trace", action="store_true", help="with --seed: print all that happened")
    parser.add_argument("--digests", action="store_true", help="print a digest of each trace")
    parser.add_argument("--first", action="store_true", help="end at the first seed that fails")
    parser.add_argument("--mutant", choices=sorted(MUTANTS), help="break the product first")
    return parser


def _seeds(text: str) -> list[int]:
    first, colon, end = text.partition(":")
    if colon:
        return list(range(int(first), int(end)))
    with open(text, encoding="utf-8") as file:  # noqa: PTH123
        lines = [line.partition("#")[0].strip() for line in file]
    return [int(line) for line in lines if line]


def _run_all(seeds: list[int], jobs: int, mutant: str | None) -> Iterator[Told]:
    chunks = [(seeds[at : at + CHUNK], mutant) for at in range(0, len(seeds), CHUNK)]
    if jobs <= 1:
        for chunk in chunks:
            yield from _run_chunk(chunk)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for told in pool.imap(_run_chunk, chunks):
            yield from told


def _run_chunk(chunk: tuple[list[int], str | None]) -> list[Told]:
    seeds, mutant = chunk
    told: list[Told] = []
    with EmbeddedServer() as embedded:
        server = _open(embedded, mutant)
        for seed in seeds:
            world = World(seed, server)
            world.run()
            digest = sha256("\n".join(world.trace).encode()).hexdigest()[:16]
            told.append((seed, broken_laws(world), digest))
        server.close()
    return told


def _open(embedded: EmbeddedServer, mutant: str | None) -> VirtualServer:
    be_quiet()
    return VirtualServer(unquote(urlsplit(embedded.url).path), apply_mutant(mutant))


def _show(seed: int, mutant: str | None, *, trace: bool) -> int:
    with EmbeddedServer() as embedded:
        world = World(seed, _open(embedded, mutant))
        world.run()
        broken = broken_laws(world)
    if trace:
        print(*world.trace, sep="\n")
    print(f"seed {seed}: {len(world.trace)} events in {world.loop.now_ms / 1_000} virtual seconds")
    print(*(broken or ["every law held"]), sep="\n")
    return 1 if broken else 0


def be_quiet() -> None:
    """Write no log lines."""
    structlog.configure(
        processors=[_drop], wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL)
    )
    sys.unraisablehook = lambda _unraisable: None


def _drop(_logger: object, _method: str, _event: MutableMapping[str, Any]) -> str:
    raise structlog.DropEvent
