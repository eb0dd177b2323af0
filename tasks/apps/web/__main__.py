"""`python -m tasks.apps.web --model ADDRESS`: a registered model for people and spreadsheets."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path

from tasks.apps.web.application import application, readable
from tasks.apps.web.connections import listening, server
from tasks.apps.web.guard import Hosts
from tasks.io.command import run
from tasks.release.registry.opening import opened


def main() -> None:
    """Load the model, and answer until interrupted; exit status 130."""
    parser = argparse.ArgumentParser(prog="python -m tasks.apps.web", description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--allow-host", action="append", default=[])
    parser.add_argument("--allow-origin", action="append", default=[])
    parser.add_argument("--min-confidence", type=float, default=0.5)
    options = parser.parse_args()
    if not 0 <= options.min_confidence <= 1:
        raise ValueError(f"--min-confidence={options.min_confidence}; it is a chance, 0 to 1")
    with (
        listening(options.host, options.port) as listener,
        opened(options.model, Path.cwd()) as (address, normalizer),
    ):
        hosts = Hosts.of(options.host, options.allow_host)
        more = (options.min_confidence, hosts, options.allow_origin)
        app = application(normalizer, address, *more)
        place = f"http://{options.host}:{listener.getsockname()[1]}/"
        print(f"{readable(address)}: {place} is the page and the service to add", flush=True)
        with suppress(KeyboardInterrupt):  # it has shut down, and passes the signal on
            server(app).run(sockets=[listener])
    sys.exit(130)


if __name__ == "__main__":
    run(main)
