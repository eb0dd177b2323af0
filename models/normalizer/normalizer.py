"""The normalizer: raw titles in, one answer or abstention each out; numpy and Arrow alone.

The file that consumers load contains it (`tasks/release/model_package/serving_file.py`); the gate
judges this class in a loaded model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from models.normalizer.answers.columns import Answers
from models.normalizer.model_parts import ModelParts
from models.normalizer.predict_params import PredictParams
from models.normalizer.text_kernels import text_kernels_at_hand
from models.search.compiling import threads
from models.search.kernels import Kernels, kernels_for
from models.search.two_stage_search import DEPTH, LOT

if TYPE_CHECKING:
    from jaxtyping import Float32

PREPARING = Lock()
"""Of several threads that answer one compiles."""
RUNNER_UP = np.log(2)
"""The second occupation is at least half as likely as the first: e^(−margin/t) ≥ ½."""


class Normalizer(ModelParts):
    """Answers raw titles, lot by lot in threads."""

    def predict(
        self,
        raw_titles: Sequence[object],
        top_k: int | None = None,
        min_confidence: float | None = None,
        code_depth: int | None = None,
        language: str | None = None,
    ) -> Answers:
        """Answer each raw title, in their order.

        Args:
            raw_titles: values of any type; what is no text gets an abstention.
            top_k: length of the lists; None is the model's own.
            min_confidence: below it the model abstains; None or 0 asks for nothing.
            code_depth: how many of `codes` to return; `min_confidence` then applies to the last of
                them. None or 0: all of them, and the occupation itself.
            language: of labels and titles in the answer, where the taxonomy has them in it; None
                or empty is that of the closest alias.

        Raises:
            ValueError: a parameter is out of range (`models/normalizer/predict_params.py`).
        """
        params = PredictParams.of(
            self.top_k if top_k is None else top_k,
            min_confidence,
            code_depth,
            language,
            depth=len(self.hierarchy) - 1,
            languages=self.taxonomy_labels.spellings.languages,
            calibrated=self.calibration is not None,
        )
        with PREPARING:
            kernels = kernels_for(len(raw_titles)) if self.two_stage_search else None
            text_kernels_at_hand()  # before the threads ask for them
        lots = [raw_titles[at : at + LOT] for at in range(0, len(raw_titles), LOT)]
        if len(lots) < 2:
            return Answers(self._lot(raw_titles, params, kernels))
        with ThreadPoolExecutor(threads()) as pool:
            tables = [*pool.map(lambda lot: self._lot(lot, params, kernels), lots)]
        return Answers(pa.concat_tables(tables))

    def _lot(
        self, raw_titles: Sequence[object], params: PredictParams, kernels: Kernels | None
    ) -> pa.Table:
        """Answer a lot of raw titles."""
        checked = self.validator(raw_titles)
        read = checked.readable
        depth, few = max(params.top_k, 2), self.two_stage_search
        spare = min(self.exact_match.most_rejected, max(DEPTH - depth, 0))
        memory = None
        if few and depth <= DEPTH:
            memory = self._memory()
            ranked = few.hits(read, depth + spare, kernels, memory)
        else:
            ranked = self.search.hits(read, depth + spare)
        found = self.finding(read, self.exact_match.accepted(read, ranked, depth), params)
        if memory is not None:
            self._spare.append(memory)  # no scores are read any more
        return self.answer_table(
            checked.reasons,
            checked.qualified,
            found,
            params,
            RUNNER_UP * (self.calibration or self.rule).temperature,
        )

    def _memory(self) -> Float32[np.ndarray, "lot occupation"]:
        """Return memory for the scores of a lot."""
        with suppress(IndexError):  # all is in use
            return self._spare.pop()
        return np.empty((LOT, len(self.index.occupations)), np.float32)

    @cached_property
    def _spare(self) -> deque[Float32[np.ndarray, "lot occupation"]]:
        """Memory that was used before: to clear what is new takes a tenth of the time."""
        return deque(maxlen=threads())
