"""The registered model as a consumer runs it: frames of pandas, nulls of the web port, errors.

MLflow copies this package into the model (`code_paths`), where nothing else of this repository is
installed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
import pyarrow as pa
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE
from mlflow.pyfunc import PythonModel, PythonModelContext

from models.serving.answer import PARAMS
from models.serving.clean import is_null
from models.serving.explain import explain
from models.serving.model import Normalizer
from models.serving.package import read_normalizer
from models.serving.search import nearest_titles
from models.text.texts import Coded, Texts
from models.text.titles import clean_title

SERVER = "__pyfunc_model_path__"
"""MLflow's web server sets this variable before it loads its one model."""
UNKNOWN = "looking for c++ develoopers (urgent!)"
"""Takes every step to an answer, so that all tables are made and all kernels compiled."""


class WrongRequest(MlflowException, ValueError):  # type: ignore[misc]  # mlflow has no types
    """A ValueError whose text MLflow's web server returns, with status 400."""

    def __init__(self, message: str) -> None:
        MlflowException.__init__(self, message, error_code=INVALID_PARAMETER_VALUE)


class ServedNormalizer(PythonModel):  # type: ignore[misc]  # mlflow has no types
    """Raw titles to occupations of the taxonomy."""

    normalizer: Normalizer  # the gate queries it directly

    def load_context(self, context: PythonModelContext) -> None:
        """Read the artifact folder; called once by MLflow."""
        self.normalizer = read_normalizer(Path(context.artifacts["normalizer"]), with_code=True)
        _accept_categories_and_nulls()
        if SERVER in os.environ:
            logging.getLogger("mlflow.models.utils").addFilter(_refuse_unknown_params)
            _keep_nulls()
            _read_csv_as_text()
            self.normalizer.predict([UNKNOWN])  # MLflow's server lets no request wait for a minute

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
        raw_titles, rows = _raw_titles(model_input)
        table = self.answer(raw_titles, params)
        columns = {name: _nullable(table[name], rows) for name in table.column_names}
        return pd.DataFrame(columns, index=rows, copy=False)

    def answer(
        self, raw_titles: Sequence[object], params: Mapping[str, Any] | None = None
    ) -> pa.Table:
        """Do the same for values in a list, and return a table of Arrow: for many of them."""
        predict_params = params or {}
        unknown = sorted(set(predict_params) - set(PARAMS))
        if unknown:
            raise WrongRequest(f"unknown params {unknown}; this model knows {', '.join(PARAMS)}")
        try:
            return self.normalizer.predict(raw_titles, **predict_params).table
        except ValueError as error:
            raise WrongRequest(str(error)) from None

    def embed(self, titles: Sequence[str]) -> np.ndarray:
        """Return unit-norm embeddings [title, dim], float32."""
        return np.asarray(self.normalizer.network([*map(clean_title, titles)]))

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
            aliases = self.normalizer.aliases
            _, first = np.unique(Coded.of(aliases["title"]).codes, return_index=True)
            names = Texts.of(aliases["written"]).take(first)
            others = self.normalizer.embeddings[: len(names)]
        else:
            names, others = np.array(among, object), self.embed(among)
        rows = [
            (titles[row], rank, names[position], similarity)
            for row, rank, position, similarity in nearest_titles(titles, self.embed, others, k)
        ]
        return pd.DataFrame(rows, columns=["title", "rank", "similar_title", "similarity"])

    def explain(self, title: str, language: str = "") -> dict[str, Any]:
        """Say which words drew a raw title to its occupation, and why the second one lost.

        Args:
            title: raw.
            language: as in `predict`.

        Returns:
            plain values: `answer` (of two occupations), `parts` (`word, pull, runner_up_pull`),
            `runner_up_label` and `why`, a sentence (`models/serving/explain.py`).
        """
        return explain(self.normalizer, title, language).values()


def _nullable(column: pa.ChunkedArray, index: pd.Index) -> object:
    """Return a column for a frame, with pandas' own null among numbers, since NaN is no JSON."""
    if pa.types.is_floating(column.type):
        return pd.arrays.FloatingArray(
            column.fill_null(np.nan).to_numpy(), column.is_null().to_numpy()
        )
    if pa.types.is_boolean(column.type):
        return column.to_numpy()
    return pd.Series(column.to_pylist(), index, object)


def _refuse_unknown_params(record: logging.LogRecord) -> bool:
    """Refuse what MLflow would leave out with a warning that no caller of a web port reads."""
    prefix, message = "Unrecognized params ", record.getMessage()
    if message.startswith(prefix):
        names = message.removeprefix(prefix).partition(" are ignored")[0]
        raise WrongRequest(f"unknown params {names}; this model knows {', '.join(PARAMS)}")
    return True


def _accept_categories_and_nulls() -> None:
    """Let MLflow take a column of categories, or of nulls alone, for text, as its values are."""
    from mlflow.models import utils
    from mlflow.types import DataType

    enforce = utils._enforce_mlflow_datatype

    def enforce_text_too(name: str, values: pd.Series, kind: DataType) -> pd.Series:
        is_category = isinstance(values.dtype, pd.CategoricalDtype)
        if kind == DataType.string and (is_category or values.isna().all()):
            values = values.astype(object)
        return enforce(name, values, kind)

    if enforce.__name__ != enforce_text_too.__name__:  # else another model of ours is loaded
        utils._enforce_mlflow_datatype = enforce_text_too


def _keep_nulls() -> None:
    """Let nulls be null in `inputs` and `instances`, where MLflow's web port makes them text."""
    from mlflow.utils import proto_json_utils as parsing

    convert = parsing.convert_data_type

    def converted(values: object, spec: object) -> object:
        if is_null(values):
            return None
        if not isinstance(values, list) or not any(map(is_null, values)):
            return convert(values, spec)
        kept = [None if is_null(value) else convert(value, spec) for value in values]
        return np.fromiter(kept, object, len(kept))

    parsing.convert_data_type = converted


def _read_csv_as_text() -> None:
    """Let each line of a CSV be a row, and an empty cell alone be null, not `None`, `nan` or `NA`.

    MLflow's web port reads a CSV as pandas does by default.
    """
    from mlflow.pyfunc import scoring_server

    def parsed(csv_input: TextIO, schema: object = None) -> pd.DataFrame:
        try:
            return pd.read_csv(
                csv_input,
                dtype=object,
                keep_default_na=False,
                na_values=[""],
                skip_blank_lines=False,
            )
        except ValueError as error:
            raise WrongRequest(f"the body is no CSV with a header: {error}") from None

    scoring_server.parse_csv_input = parsed


def _raw_titles(model_input: pd.DataFrame | Sequence[object]) -> tuple[list[object], pd.Index]:
    """Return the values of the column `raw_title`, or of a plain list, and their index."""
    if not isinstance(model_input, pd.DataFrame):
        model_input = pd.DataFrame({"raw_title": pd.Series(list(model_input), dtype="object")})
    if "raw_title" not in model_input.columns:
        raise WrongRequest(
            f"column raw_title is missing; the input has {list(model_input.columns)}"
        )
    return model_input["raw_title"].tolist(), model_input.index
