"""The registered model as a consumer runs it: this one file, the artefact folder, onnxruntime.

MLflow copies this file into the model and runs it (models-from-code), where nothing of this
repository is installed; `serving_file.py` beside it inlines its imports of `models/`.
`models/normalizer/` answers; this file adds the files, the network, pandas, and errors that also
reach the caller of a web port.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE
from mlflow.pyfunc import PythonModel, PythonModelContext

from models.normalizer.answers.explanation import explain
from models.normalizer.normalizer import Normalizer
from models.normalizer.package_checksums import check_files
from models.normalizer.package_format import check_format
from models.normalizer.qualifiers import Qualifiers, read_phrases
from models.search.calibration import Calibration
from models.search.occupation_scores import ScoreRule
from models.search.search import nearest_titles
from models.text.featurizer import Featurizer, Ids
from models.text.titles import clean_title

PARAMS = ("top_k", "min_confidence", "code_depth")
BATCH = 256  # titles embedded at once
WIDTH = 16  # what the lengths of padded titles are multiples of
SERVER = "__pyfunc_model_path__"
"""MLflow's web server sets this variable before it loads its one model."""


class WrongRequest(MlflowException, ValueError):  # type: ignore[misc]  # mlflow has no types
    """A ValueError whose text MLflow's web server returns, with status 400."""

    def __init__(self, message: str) -> None:
        MlflowException.__init__(self, message, error_code=INVALID_PARAMETER_VALUE)


class ServedNormalizer(PythonModel):  # type: ignore[misc]  # mlflow has no types
    """Raw titles to occupations of the taxonomy."""

    normalizer: Normalizer  # the gate queries it directly

    def load_context(self, context: PythonModelContext) -> None:
        """Read the artefact folder; called once by MLflow."""
        self.normalizer = read_normalizer(Path(context.artifacts["normalizer"]), Path(__file__))
        if SERVER in os.environ:
            logging.getLogger("mlflow.models.utils").addFilter(_refuse_unknown_params)

    def predict(
        self,
        context: PythonModelContext,
        model_input: pd.DataFrame,
        params: dict[str, Any] | None = None,
    ) -> pd.DataFrame:
        """Give one row per row of `model_input`, with its index: the columns of `Answer`.

        Raises:
            WrongRequest: a param is unknown or out of range, or the column `raw_title` is missing.
                (MLflow's own `predict` warns of unknown params and leaves them out before.)
        """
        predict_params = params or {}
        unknown = sorted(set(predict_params) - set(PARAMS))
        if unknown:
            raise WrongRequest(f"unknown params {unknown}; this model knows {', '.join(PARAMS)}")
        raw_titles, rows = _raw_titles(model_input)
        try:
            answers = self.normalizer.predict(raw_titles, **predict_params)
        except ValueError as error:
            raise WrongRequest(str(error)) from None
        columns = {name: _nullable(values, rows) for name, values in answers.columns.items()}
        return pd.DataFrame(columns, index=rows, copy=False)

    def embed(self, titles: Sequence[str]) -> np.ndarray:
        """Return unit-norm embeddings [title, dim], float32."""
        return np.asarray(self.normalizer.embed([clean_title(title) for title in titles]))

    def similar(
        self, titles: Sequence[str], k: int = 10, among: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Find the `k` closest titles of each, in the taxonomy or in a list.

        Args:
            titles: raw.
            k: 1 or more.
            among: raw titles; None is the taxonomy's.

        Returns:
            columns `title, rank` (1 is the closest)`, similar_title, similarity` (a cosine).
        """
        if among is None:
            spelled = zip(*(self.normalizer.aliases[n] for n in ("title", "written")), strict=True)
            written = dict(reversed([*spelled]))
            names = [written[title] for title in self.normalizer.index.titles]
            others = self.normalizer.embeddings[: len(names)]
        else:
            names, others = list(among), self.embed(among)
        rows = [
            (titles[row], rank, names[place], similarity)
            for row, rank, place, similarity in nearest_titles(titles, self.embed, others, k)
        ]
        return pd.DataFrame(rows, columns=["title", "rank", "similar_title", "similarity"])

    def explain(self, title: str) -> dict[str, Any]:
        """Say which words drew a raw title to its occupation, and why the second one lost.

        Returns:
            plain values: `answer` (of two occupations), `parts` (`word, pull, runner_up_pull`),
            `runner_up_label` and `why`, a sentence (`models/normalizer/answers/explanation.py`).
        """
        return explain(self.normalizer, title).values()


def read_normalizer(folder: Path, code: Path | None = None) -> Normalizer:
    """Read what `tasks/release/model_package/folder.py` wrote.

    `code`: the file that serves it, which MLflow copied beside it.

    Raises:
        ValueError: a file is not the one that was registered, the folder is of another format, or
            its index does not fit its aliases.
    """
    check_files(folder, code)
    settings, values = (
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in ("settings.json", "featurizer.json")
    )
    check_format(settings, str(folder))
    featurizer = Featurizer.from_values(values)
    normalizer = Normalizer(
        featurizer,
        Network(folder / "encoder.onnx", featurizer),
        pq.read_table(folder / "aliases.parquet").to_pydict(),
        pq.read_table(folder / "occupations.parquet").to_pydict(),
        pq.read_table(folder / "exemplars.parquet").to_pydict(),
        pq.read_table(folder / "overrides.parquet").to_pydict(),
        _unit_rows(np.load(folder / "index.npy", allow_pickle=False)),
        ScoreRule(**settings["rule"]),
        settings["calibration"] and Calibration(**settings["calibration"]),
        Qualifiers(read_phrases(folder / "qualifiers.csv")),
        settings["versions"],
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
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # else its import writes to HOME
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        threads = os.environ.get("OMP_NUM_THREADS", "")  # a list, too, where threads are nested
        options.intra_op_num_threads = int(threads) if threads.isdecimal() else 0  # 0: all cores
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._featurizer = featurizer
        self._session = onnxruntime.InferenceSession(
            str(file), options, providers=["CPUExecutionProvider"]
        )
        self._names = [entry.name for entry in self._session.get_inputs()]
        self._dim = self._session.get_outputs()[0].shape[1]

    def __call__(self, titles: Sequence[str]) -> np.ndarray:
        """Embed [title, dim], float32; what a title gets depends on no other title."""
        streams = self._featurizer(titles).streams
        widths = np.array([-(-ids.lengths // WIDTH) * WIDTH for ids in streams])
        embeddings = np.empty((len(titles), self._dim), np.float32)
        order = np.lexsort(widths)
        ends = np.flatnonzero(np.diff(widths[:, order], append=0).any(axis=0)) + 1
        for alike in np.split(order, ends[:-1]):  # sums of floats depend on the padding, too
            for start in range(0, len(alike), BATCH):
                rows = alike[start : start + BATCH]
                parts = [
                    part
                    for ids, width in zip(streams, widths[:, rows[0]], strict=True)
                    for part in (_padded(ids, rows, width), ids.lengths[rows])
                ]
                feed = dict(zip(self._names, parts, strict=True))
                embeddings[rows] = self._session.run(None, feed)[0]
        return embeddings


def _padded(ids: Ids, rows: np.ndarray, width: int) -> np.ndarray:
    """Return the ids of some titles [row, width], padded with 0."""
    ends = np.cumsum(ids.lengths)[rows, None]
    places = ends - ids.lengths[rows, None] + np.arange(width)
    padded = np.zeros(places.shape, np.int64)
    padded[places < ends] = ids.flat[places[places < ends]]
    return padded


def _nullable(values: np.ndarray, index: pd.Index) -> object:
    """Return a column for a frame, with pandas' own null among numbers, since NaN is no JSON."""
    if values.dtype == object:
        return pd.Series(values, index, object, copy=False)
    if values.dtype == float:
        return pd.arrays.FloatingArray(values, np.isnan(values))
    return values


def _refuse_unknown_params(record: logging.LogRecord) -> bool:
    """Refuse what MLflow would leave out with a warning that no caller of a web port reads."""
    prefix, message = "Unrecognized params ", record.getMessage()
    if message.startswith(prefix):
        names = message.removeprefix(prefix).partition(" are ignored")[0]
        raise WrongRequest(f"unknown params {names}; this model knows {', '.join(PARAMS)}")
    return True


def _raw_titles(model_input: pd.DataFrame | Sequence[object]) -> tuple[list[object], pd.Index]:
    """Return the values of the column `raw_title`, or of a plain list, and their index."""
    if not isinstance(model_input, pd.DataFrame):
        model_input = pd.DataFrame({"raw_title": pd.Series(list(model_input), dtype="object")})
    if "raw_title" not in model_input.columns:
        raise WrongRequest(
            f"column raw_title is missing; the input has {list(model_input.columns)}"
        )
    return model_input["raw_title"].tolist(), model_input.index


def _unit_rows(table: np.ndarray) -> np.ndarray:
    """Widen bytes, whose rows have lost their norm; floats have it, but for rounding."""
    rows = table.astype(np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1)


mlflow.models.set_model(ServedNormalizer())
