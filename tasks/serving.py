"""The registered model as a consumer runs it: this one file, the artefact folder, onnxruntime.

Self-contained: MLflow copies this file into the model and runs it (models-from-code), where nothing
of this repository is installed; `tasks/serving_file.py` puts what it imports of `models/` into it.
It repeats the scoring of `models/normalizer.py` in numpy; a test holds the two together. One row
out per row in: an answer, or an abstention with its reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import onnxruntime
import pandas as pd
import pyarrow.parquet as pq
from mlflow.pyfunc import PythonModel, PythonModelContext

from models.featurizer import Featurizer
from models.normalizer_abstention import abstention
from models.titles import clean_title

PARAMS = ("top_k", "min_confidence")
TITLES = 256  # embedded and scored at once
COLUMNS = (
    "occupation_id",
    "occupation_label",
    "codes",
    "matched_title",
    "score",
    "confidence",
    "reason",
    "cut",
    "top_occupation_ids",
    "top_titles",
    "top_scores",
)


class ServedNormalizer(PythonModel):  # type: ignore[misc]  # mlflow has no types
    """Raw titles to occupations of the taxonomy."""

    def load_context(self, context: PythonModelContext) -> None:
        """Read the artefact folder; called once by MLflow."""
        folder = Path(context.artifacts["normalizer"])
        self._settings = _json(folder / "settings.json")
        if self._settings["format"] != 2 or self._settings["calibration"] is not None:
            raise ValueError(f"{folder}: settings.json is not of format 2 without calibration")
        self._featurizer = Featurizer.from_values(_json(folder / "featurizer.json"))
        self._letters = frozenset(self._featurizer.alphabet)
        self._read_index(folder)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self._network = onnxruntime.InferenceSession(
            str(folder / "encoder.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def predict(
        self,
        context: PythonModelContext,
        model_input: pd.DataFrame,
        params: dict[str, Any] | None = None,
    ) -> pd.DataFrame:
        """One row per row of `model_input`, with its index; the columns are `COLUMNS`.

        `confidence` is null with the reason `uncalibrated` until the model is calibrated. An
        abstention has nulls, empty lists, and the reason `null`, `not text`, `empty`, `no letters`
        or `unknown letters`. `cut`: only the first characters were read. The lists hold `top_k`
        answers, equal scores in the order of their occupation_ids.

        Raises:
            ValueError: an unknown param, `top_k` below 1, or a `min_confidence` above 0, since the
                model is not calibrated; or no column `raw_title`. (What comes through MLflow's own
                `predict` has lost unknown params before: MLflow warns and leaves them out.)
        """
        depth = self._depth(params or {})
        raw_titles, rows = _raw_titles(model_input)
        reasons = [abstention(title, self._letters, self._titles) for title in raw_titles]
        asked = [str(title) for title, why in zip(raw_titles, reasons, strict=True) if why is None]
        found = self._answers(asked, depth)
        return _frame([_abstain(reason) if reason else next(found) for reason in reasons], rows)

    def embed(self, titles: Sequence[str]) -> np.ndarray:
        """Unit-norm embeddings [title, dim], float32."""
        # sorted, so that blocks hold little padding
        order = sorted(range(len(titles)), key=lambda row: len(clean_title(titles[row])))
        embeddings = np.empty((len(titles), self._embeddings.shape[1]), np.float32)
        for start in range(0, len(order), TITLES):
            rows = order[start : start + TITLES]
            streams = self._featurizer([titles[row] for row in rows]).streams
            parts = [part for ids in streams for part in (ids.padded(), ids.lengths)]
            names = [entry.name for entry in self._network.get_inputs()]
            fed = dict(zip(names, parts, strict=True))
            embeddings[rows] = self._network.run(None, fed)[0]
        return embeddings

    def _read_index(self, folder: Path) -> None:
        aliases = pq.read_table(folder / "aliases.parquet").to_pydict()
        occupations = pq.read_table(folder / "occupations.parquet").to_pydict()
        self._known = {
            name: (label, codes)
            for name, label, codes in zip(
                occupations["occupation_id"],
                occupations["occupation_label"],
                occupations["codes"],
                strict=True,
            )
        }
        titles, title = _coded([clean_title(text) for text in aliases["title"]])
        self._occupations, occupation = _coded(aliases["occupation_id"])
        self._titles = frozenset(titles)
        self._written: dict[tuple[int, int], str] = {}
        for pair, text in zip(zip(title, occupation, strict=True), aliases["title"], strict=True):
            self._written.setdefault(pair, text)
        pairs = np.array(sorted((o, t) for t, o in self._written))
        self._members = pairs[:, 1]  # title of each membership, occupation by occupation
        self._sizes = np.bincount(pairs[:, 0])
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._embeddings = _tensor(folder / "index.safetensors", "embeddings")
        if len(self._embeddings) != len(titles):
            raise ValueError(f"{folder}: {len(self._embeddings)} embeddings, {len(titles)} titles")

    def _depth(self, params: dict[str, Any]) -> int:
        unknown = sorted(set(params) - set(PARAMS))
        if unknown:
            raise ValueError(f"unknown params {unknown}; this model knows {', '.join(PARAMS)}")
        if params.get("min_confidence"):
            raise ValueError(
                f"min_confidence = {params['min_confidence']}: this model is not calibrated, so it "
                "has no confidence to compare; leave it out, or compare `score` yourself"
            )
        depth = params.get("top_k")
        depth = int(self._settings["top_k"] if depth is None else depth)
        if depth < 1:
            raise ValueError(f"top_k = {depth}; it must be 1 or more")
        return min(depth, len(self._occupations))

    def _answers(self, raw_titles: list[str], depth: int) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(raw_titles), TITLES):
            block = raw_titles[start : start + TITLES]
            members = (self.embed(block) @ self._embeddings.T)[:, self._members]
            scores = self._scores(members)
            top = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
            for row, cut in enumerate(self._featurizer(block).cut.tolist()):
                yield self._answer(cut, members[row], top[row], scores[row, top[row]])

    def _scores(self, members: np.ndarray) -> np.ndarray:
        """Similarities [query, membership] to scores [query, occupation]."""
        best = np.maximum.reduceat(members, self._starts, axis=1)
        if self._settings["occupation_score"] == "best":
            return best
        temperature = self._settings["soft_temperature"]
        shares = np.exp((members - np.repeat(best, self._sizes, axis=1)) / temperature)
        total = np.log(np.add.reduceat(shares, self._starts, axis=1))
        scores: np.ndarray = best + temperature * (
            total - 0.5 * np.log(self._sizes).astype(np.float32)
        )
        return scores

    def _answer(
        self, cut: bool, members: np.ndarray, top: np.ndarray, scores: np.ndarray
    ) -> tuple[Any, ...]:
        titles = []
        for code in top.tolist():
            start = self._starts[code]
            closest = start + members[start : start + self._sizes[code]].argmax()
            titles.append(self._written[int(self._members[closest]), code])
        identifiers = [self._occupations[code] for code in top]
        label, codes = self._known[identifiers[0]]
        first = (identifiers[0], label, codes, titles[0], float(scores[0]), None, "uncalibrated")
        return (*first, cut, identifiers, titles, scores.astype(float).tolist())


def _abstain(reason: str) -> tuple[Any, ...]:
    return (None, None, [], None, None, None, reason, False, [], [], [])


def _frame(rows: list[tuple[Any, ...]], index: pd.Index) -> pd.DataFrame:
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    # pandas' own nulls: NaN is no JSON, and a None among numbers cannot be compared
    types = {"score": "Float64", "confidence": "Float64", "cut": "bool"}
    return pd.DataFrame(
        {
            name: pd.Series(list(column), index=index, dtype=types.get(name, "object"))
            for name, column in zip(COLUMNS, columns, strict=True)
        }
    )


def _raw_titles(model_input: pd.DataFrame | Sequence[object]) -> tuple[list[object], pd.Index]:
    """The values of the column `raw_title`, or of a plain list, and their index."""
    if not isinstance(model_input, pd.DataFrame):
        model_input = pd.DataFrame({"raw_title": pd.Series(list(model_input), dtype="object")})
    if "raw_title" not in model_input.columns:
        raise ValueError(f"column raw_title is missing; given: {list(model_input.columns)}")
    return model_input["raw_title"].tolist(), model_input.index


def _coded(values: list[str]) -> tuple[list[str], list[int]]:
    distinct = sorted(set(values))
    place = {value: number for number, value in enumerate(distinct)}
    return distinct, [place[value] for value in values]


def _json(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value


def _tensor(path: Path, name: str) -> np.ndarray:
    """A float32 tensor of a safetensors file: 8 bytes of length, a JSON header, the numbers."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    entry = json.loads(content[8 : 8 + length])[name]
    start, end = (8 + length + offset for offset in entry["data_offsets"])
    if entry["dtype"] != "F32":
        raise ValueError(f"{path}: {name} is {entry['dtype']}, expected F32")
    return np.frombuffer(content[start:end], np.float32).reshape(entry["shape"])


mlflow.models.set_model(ServedNormalizer())
