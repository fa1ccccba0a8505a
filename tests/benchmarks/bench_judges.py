"""What does the client of a language model add to each call, and how fast is ROUGE?

A scripted server in a process of its own answers after 100 ms; the ideal time is what 32 calls under way need. Beside
the time on the clock stands the client's processor time for each call, cache included. ROUGE is compared with
rouge-score on the same 10,000 pairs of 60 words, values equal. ``python -m tests.benchmarks judges``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec

import numpy as np

from hmc_crowd.judges import LLMJudge, rouge
from hmc_crowd.judges.endpoint import Endpoint

CALLS, CONCURRENCY, ANSWERS_AFTER_S = 2_000, 32, 0.1
SERVER = """
import asyncio, json, sys
BODY = json.dumps({"model": "m", "choices": [{"message": {"content": "A"}, "logprobs": {"content": [{"token": "A",
       "logprob": -.1, "top_logprobs": [{"token": "A", "logprob": -.1}, {"token": "B", "logprob": -2.3}]}]}}],
       "usage": {"prompt_tokens": 300, "completion_tokens": 1}}).encode()
HEAD = b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(BODY)
async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            size = int(next(l for l in head.lower().split(b"\\r\\n") if l.startswith(b"content-length")).split(b":")[1])
            await reader.readexactly(size)
            await asyncio.sleep(float(sys.argv[1]))
            writer.write(HEAD + BODY)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


def pairs(many: int) -> dict[str, list[str]]:
    rows = range(many)
    text = "A response of some length, such as people write when they are asked for an opinion. " * 4
    return {
        "item": [f"p{row}" for row in rows],
        "instruction": [f"Say something about {row}." for row in rows],
        "response_a": [f"{text}{row}" for row in rows],
        "response_b": [f"{row} {text}" for row in rows],
    }


def client() -> list[tuple[str, str]]:
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(ANSWERS_AFTER_S)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = int(server.stdout.readline())
    try:
        with tempfile.TemporaryDirectory() as folder:
            endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", "m", concurrency=CONCURRENCY)
            judge = LLMJudge(endpoint, cache=f"{folder}/answers.db")
            judge.judge(pairs(64))
            given = {name: [f"x{each}" for each in column] for name, column in pairs(CALLS).items()}
            wall, own = time.perf_counter(), time.process_time()
            judge.judge(given)
            wall, own = time.perf_counter() - wall, time.process_time() - own
            again = time.perf_counter()
            judge.judge(given)
            again = time.perf_counter() - again
    finally:
        server.terminate()
        server.wait()
    ideal = CALLS / CONCURRENCY * ANSWERS_AFTER_S
    return [
        (f"{CALLS:,} calls, {CONCURRENCY} under way", f"{wall:.2f} s, ideal {ideal:.2f} s"),
        ("overhead for each call, on the clock", f"{(wall - ideal) / CALLS * 1e3:.2f} ms"),
        ("processor time for each call", f"{own / CALLS * 1e3:.2f} ms"),
        ("all of them again, from the cache", f"{again:.2f} s"),
    ]


def overlap() -> list[tuple[str, str]]:
    rng = np.random.default_rng(1)
    words = np.array([f"w{place}" for place in range(300)])
    texts = [[" ".join(row) for row in words[rng.integers(0, 300, (10_000, 60))]] for _ in range(2)]
    rows = []
    for measure in ("rouge1", "rougeL"):
        started = time.process_time()
        ours = [rouge(a, b, measure, preset="rouge-score").f for a, b in zip(*texts, strict=True)]
        spent = time.process_time() - started
        told = f"{spent:.2f} s for 10,000 pairs"
        if find_spec("rouge_score"):
            from rouge_score.rouge_scorer import RougeScorer

            peer = RougeScorer([measure])
            started = time.process_time()
            theirs = [peer.score(b, a)[measure].fmeasure for a, b in zip(*texts, strict=True)]
            ratio = (time.process_time() - started) / spent
            gap = np.abs(np.subtract(ours, theirs)).max()
            told += f", {ratio:.1f} times as fast as rouge-score; largest difference {gap:.0e}"
        rows.append((measure, told))
    return rows


def main() -> list[tuple[str, str]]:
    """Return the rows of the table."""
    return [*client(), *overlap()]
