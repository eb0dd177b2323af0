"""`python -m tasks.apps.reconciliation --model ADDRESS`: a registered model for spreadsheets."""

from __future__ import annotations

import argparse
import errno
import socket
import sys
from contextlib import suppress
from pathlib import Path

from tasks.apps.reconciliation.taxonomy_service import TaxonomyService
from tasks.apps.reconciliation.web import application
from tasks.io.command import run
from tasks.release.registry.loading import fetched


def main() -> None:
    """Load the model, and answer until interrupted; exit status 130."""
    parser = argparse.ArgumentParser(
        prog="python -m tasks.apps.reconciliation", description=__doc__
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--min-confidence", type=float, default=0.5)
    options = parser.parse_args()
    if not 0 <= options.min_confidence <= 1:
        raise ValueError(f"--min-confidence={options.min_confidence}; it is a chance, 0 to 1")
    with _listening(options.host, options.port) as listener:
        with fetched(options.model, Path.cwd()) as (address, folder):
            import mlflow

            served = mlflow.pyfunc.load_model(str(folder)).unwrap_python_model()
        import uvicorn

        app = application(TaxonomyService(served.normalizer), address, options.min_confidence)
        port = listener.getsockname()[1]
        print(f"{address}: http://{options.host}:{port}/ is the service to add", flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        with suppress(KeyboardInterrupt):  # it has shut down, and passes the signal on
            server.run(sockets=[listener])
    sys.exit(130)


def _listening(host: str, port: int) -> socket.socket:
    """Take a port before the model is loaded; early requests wait."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        taken = getattr(error, "errno", None) == errno.EADDRINUSE
        fault = "is in use: choose another, --port=8001" if taken else f"cannot be used: {error}"
        raise ValueError(f"{host}:{port} {fault}") from None
    return listener


if __name__ == "__main__":
    run(main)
