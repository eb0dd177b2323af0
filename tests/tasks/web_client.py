"""The web service on a toy taxonomy, asked without a process of its own."""

from typing import Any

from fastapi.testclient import TestClient
from served_toy import toy_normalizer

from models.serving.confidence import Calibration
from tasks.apps.web.application import application
from tasks.apps.web.guard import Hosts

SURE = Calibration(0.05, [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], 10)


def web_client(
    calibration: Calibration | None = None,
    threshold: float = 0.5,
    *origins: str,
    model: str = "models:/toy/3",
    normalizer: Any = None,
) -> TestClient:
    """A client on this machine; `normalizer` takes the place of the toy."""
    normalizer = normalizer or toy_normalizer(calibration)
    app = application(normalizer, model, threshold, Hosts.of("127.0.0.1"), origins)
    return TestClient(app, base_url="http://localhost")
