"""The registered model as a consumer runs it: this one file, the artefact folder, onnxruntime.

Self-contained: MLflow copies this file into the model and runs it (models-from-code), where nothing
of this repository is installed; `tasks/artefact/serving_file.py` puts what it imports of `models/`
into it. What answers is `models/answer/`; here are the files, the network and pandas.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import onnxruntime
import pandas as pd
import pyarrow.parquet as pq
from mlflow.pyfunc import PythonModel, PythonModelContext

from models.answer.answer import Answer, columns
from models.answer.calibration import Calibration
from models.answer.normalizer import Normalizer
from models.answer.occupation_scores import ScoreRule
from models.text.featurizer import Featurizer
from models.text.titles import clean_title

PARAMS = ("top_k", "min_confidence")
BATCH = 256  # titles embedded at once
DTYPES: dict[type, str] = {float: "Float64", bool: "bool"}
"""pandas' own nulls: NaN is no JSON, and a None among numbers cannot be compared."""


class ServedNormalizer(PythonModel):  # type: ignore[misc]  # mlflow has no types
    """Raw titles to occupations of the taxonomy.

    Attributes:
        normalizer: what answers; the gate asks it directly.
    """

    normalizer: Normalizer

    def load_context(self, context: PythonModelContext) -> None:
        """Read the artefact folder; called once by MLflow."""
        self.normalizer = read_normalizer(Path(context.artifacts["normalizer"]))

    def predict(
        self,
        context: PythonModelContext,
        model_input: pd.DataFrame,
        params: dict[str, Any] | None = None,
    ) -> pd.DataFrame:
        """Give one row per row of `model_input`, with its index; the columns are an `Answer`'s.

        Raises:
            ValueError: an unknown param, `top_k` below 1, a `min_confidence` that is no chance or
                is asked of a model without calibration; or no column `raw_title`. (What comes
                through MLflow's own `predict` has lost unknown params before: MLflow warns and
                leaves them out.)
        """
        wanted = params or {}
        unknown = sorted(set(wanted) - set(PARAMS))
        if unknown:
            raise ValueError(f"unknown params {unknown}; this model knows {', '.join(PARAMS)}")
        raw_titles, rows = _raw_titles(model_input)
        return _frame(self.normalizer.predict(raw_titles, **wanted), rows)

    def embed(self, titles: Sequence[str]) -> np.ndarray:
        """Return unit-norm embeddings [title, dim], float32."""
        return np.asarray(self.normalizer.embed([clean_title(title) for title in titles]))


def read_normalizer(folder: Path) -> Normalizer:
    """Read what `tasks/artefact/folder.py` wrote.

    Raises:
        ValueError: the folder is of another format, or its index does not fit its aliases.
    """
    settings = _json(folder / "settings.json")
    if settings["format"] != 5:
        raise ValueError(f"{folder}: settings.json is not of format 5")
    featurizer = Featurizer.from_values(_json(folder / "featurizer.json"))
    normalizer = Normalizer(
        featurizer,
        Network(folder / "encoder.onnx", featurizer),
        pq.read_table(folder / "aliases.parquet").to_pydict(),
        pq.read_table(folder / "occupations.parquet").to_pydict(),
        pq.read_table(folder / "exemplars.parquet").to_pydict(),
        _unit_rows(np.load(folder / "index.npy", allow_pickle=False)),
        ScoreRule(**settings["rule"]),
        settings["calibration"] and Calibration(**settings["calibration"]),
        settings["top_k"],
    )
    titles = len(normalizer.index.titles) + len(set(normalizer.exemplars["title"]))
    if len(normalizer.embeddings) != titles:
        raise ValueError(
            f"{folder}: {len(normalizer.embeddings)} embeddings of {titles} titles; register again"
        )
    return normalizer


class Network:
    """The encoder in ONNX: cleaned titles to embeddings of unit norm."""

    def __init__(self, file: Path, featurizer: Featurizer) -> None:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self._featurizer = featurizer
        self._session = onnxruntime.InferenceSession(
            str(file), options, providers=["CPUExecutionProvider"]
        )
        self._names = [entry.name for entry in self._session.get_inputs()]
        self._dim = self._session.get_outputs()[0].shape[1]

    def __call__(self, titles: Sequence[str]) -> np.ndarray:
        """Embed [title, dim], float32."""
        order = sorted(range(len(titles)), key=lambda row: len(titles[row]))  # little padding
        embeddings = np.empty((len(titles), self._dim), np.float32)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            streams = self._featurizer([titles[row] for row in rows]).streams
            parts = [part for ids in streams for part in (ids.padded(), ids.lengths)]
            feed = dict(zip(self._names, parts, strict=True))
            embeddings[rows] = self._session.run(None, feed)[0]
        return embeddings


def _frame(answers: list[Answer], index: pd.Index) -> pd.DataFrame:
    values = list(zip(*answers, strict=True)) or [()] * len(columns())
    return pd.DataFrame(
        {
            name: pd.Series(
                list(cells),
                index=index,
                dtype="object" if column.is_list else DTYPES.get(column.type, "object"),
            )
            for (name, column), cells in zip(columns().items(), values, strict=True)
        }
    )


def _raw_titles(model_input: pd.DataFrame | Sequence[object]) -> tuple[list[object], pd.Index]:
    """Return the values of the column `raw_title`, or of a plain list, and their index."""
    if not isinstance(model_input, pd.DataFrame):
        model_input = pd.DataFrame({"raw_title": pd.Series(list(model_input), dtype="object")})
    if "raw_title" not in model_input.columns:
        raise ValueError(f"column raw_title is missing; given: {list(model_input.columns)}")
    return model_input["raw_title"].tolist(), model_input.index


def _unit_rows(table: np.ndarray) -> np.ndarray:
    """Widen bytes, whose rows have lost their norm; floats have it, but for rounding."""
    rows = table.astype(np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1)


def _json(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value


mlflow.models.set_model(ServedNormalizer())
