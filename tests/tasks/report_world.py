"""A small invented world: four occupations, two tests, three systems, titles that try to break in.

`report_data` is like the stage's, with an embedding that hashes characters instead of a network;
`PageReader` parses a page.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from frames_of import Rows, aliases_of, frame_of, queries_of

from models.serving.scores import Exemplars
from models.serving.search import Search
from models.text.titles import clean_title
from tasks.evaluation.systems import EvaluateParams, index_of
from tasks.io.frames import Schema
from tasks.io.schemas import HISTORY, OCCUPATIONS, RESOLUTIONS, RUN, SCORES, TABLE, VERDICTS
from tasks.io.section import load
from tasks.pipeline.feedback.reader import REPAIRS
from tasks.pipeline.ingest.stage import IngestParams
from tasks.pipeline.report.report_data import ReportData
from tasks.pipeline.report.stage import ReportParams
from tasks.pipeline.split import distinct_titles
from tasks.pipeline.train_params import TrainParams

PARAMS = Path(__file__).parents[2] / "params.yaml"
HOSTILE = "<script>alert('x')</script> & \"R&D\" 🧑‍🍳 面包师"
LABELS = {"a": "baker 🥖", "b": "C++ <developer>", "c": "nurse", "d": "driver & loader"}
TITLES = {
    "a": ["baker 🥖", "bread baker", "pastry cook", HOSTILE],
    "b": ["C++ <developer>", "programmer", "software developer"],
    "c": ["nurse", "ward sister"],
    "d": ["driver & loader"],
}
QUERY_ROWS = [
    ("typos-1", "typos", "bakr", ["a"], "a"),
    ("typos-2", "typos", "prgrammer", ["b"], "b"),
    ("annotations-1", "annotations", "senior nurse (m/f)", ["c"], "c"),
    ("annotations-2", "annotations", HOSTILE, ["a", "c"], "b"),
    ("annotations-3", "annotations", "night baker", ["a"], "b"),
    ("annotations-4", "annotations", "lorry <b>driver</b>", ["d"], "b"),
]
"""query_id, test, raw_title, gold, and what the trained network answers."""
RESOLUTION_ROWS = [
    ("bread baker", "b", "incorrect", False, "a", False),
    ("programmer <b>", "b", "correct", True, "b", False),
    ("ward sister", "c", "correct", False, "a", True),
    ("lorry driver", "a", "incorrect", True, None, False),
]
"""raw title, answer judged, what was decided, disputed?, right occupation, held out?"""
VERDICT_ROWS = [
    ("ward sister", "c", "correct", "c", "ann", "2026-01-01", None, None, None, False),
    ("Ward sister!", "c", "incorrect", "a", "labels", "2026-01-01", None, None, None, True),
    ("ward sister", "c", "incorrect", "a", "<bob>", "2026-01-01", None, None, None, False),
    ("see below", "b", "not_a_job_title", None, "ann", "2026-01-01", None, None, None, False),
    ("see below", "b", "not_a_job_title", None, "<bob>", "2026-01-01", None, None, None, False),
    ("lorry driver", "a", "correct", "a", "ann", "2026-01-01", None, None, None, False),
]
"""raw title, answer judged, verdict, right occupation, reviewer, when, chosen by, version, served,
from labels?"""
COUNTED = (
    *("query", "contradicts_taxonomy", "duplicate", "outdated", "counted", "correct", "incorrect"),
    *("corrected", "unresolved", "not_the_right_one", "shared_title", "trained", "held_out"),
    *("gate_queries", "overrides", "not_job_titles", "rejected_answers"),
)
FEEDBACK_COUNTS = {
    "rows_read": {"feedback/<ann>.csv": 30, "data/simulate_feedback/feedback.csv": 4},
    "rejected": {"feedback/<ann>.csv": {"empty raw_title": 2, "unknown occupation": 3}},
    "repairs": {name: number for number, name in enumerate(REPAIRS, start=61)},
    **{name: number for number, name in enumerate(COUNTED, start=73)},
}


class PageReader(HTMLParser):
    """Collects elements, attributes and words; complains of tags that are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.tags: set[str] = set()
        self.feed(str(page))
        self.close()
        assert self.open == []

    @property
    def words(self) -> str:
        """The text, with one space wherever the page has white space."""
        return " ".join(self.text.split())

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def framed(rows: Rows, schema: Schema) -> pl.DataFrame:
    return pl.DataFrame([*rows], schema=dict(schema), orient="row")


def unmatched(rows: Rows, schema: Schema) -> pl.DataFrame:
    """Verdicts or resolutions without a matched title."""
    return frame_of(((*row[:2], None, *row[2:]) for row in rows), schema)


def embed(titles: Sequence[str]) -> np.ndarray:
    """Count characters by code point modulo 16, to unit length; no section asks with raw titles."""
    assert list(titles) == [clean_title(title) for title in titles]
    rows = np.full((len(titles), 16), 1e-3)
    for row, title in enumerate(titles):
        for character in title:
            rows[row, ord(character) % 16] += 1
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def searching(embed: Callable[[Sequence[str]], np.ndarray]) -> Search:
    """Search the aliases, and one exemplar."""
    index = index_of(distinct_titles(_aliases()))
    exemplar = {"title": ["bread baker"], "occupation_id": ["a"], "weight": [1.0]}
    exemplars = Exemplars.of(index, {}, exemplar, 0.06)
    others = embed([*index.titles, *exemplars.titles]).T
    rule = load(EvaluateParams, PARAMS).rule
    return Search(index, lambda titles: embed(titles) @ others, rule, exemplars)


def _scores() -> pl.DataFrame:
    rows = []
    for query_id, test, _, gold, answered in QUERY_ROWS:
        hit = float(answered in gold)
        rows += [("typos", test, query_id, hit, 1.0, 1.0, (1 + hit) / 2)]
        rows += [(name, test, query_id, 0.0, 0.5, 1.0, 0.25) for name in ("ngram", "untrained")]
    return framed(rows, SCORES)


def _table(scores: pl.DataFrame) -> pl.DataFrame:
    """Make true means with made-up intervals, for `all` and one slice of each kind."""
    rows = []
    for (system, test), group in scores.group_by(["system", "test"], maintain_order=True):
        for split in ("all", "size:1", "length:31+", "source:alias"):
            for column in ("success_at_1", "success_at_5", "reciprocal_rank"):
                value = float(group[column].mean())
                metric = "mrr" if column == "reciprocal_rank" else column
                rows.append((system, test, split, metric, value, value / 2, 1.0, len(group)))
    return framed(rows, TABLE)


def _aliases() -> pl.DataFrame:
    return aliases_of(
        (occupation, title, title == LABELS[occupation], "train")
        for occupation, titles in TITLES.items()
        for title in titles
    )


@pytest.fixture(scope="session")
def report_data() -> ReportData:
    scores, nan = _scores(), float("nan")
    looks = [(0, nan, nan, nan, 0.2), (50, 0.5, 0.2, 0.3, 0.6), (100, 0.4, 0.2, 0.2, 0.6)]
    kept = {"occupations": 4, "aliases": 10, "inputs": 1234, "inputs_labelled": 4}
    rejected = {"empty row": 3, "unknown <occupation>": 2}
    read = {"rows_read": {"folder/secret.csv": 1248}, "rejected": rejected, "rejected_errors": 2}
    return ReportData(
        mix="typos",
        seed=1,
        reader=load(IngestParams, PARAMS).taxonomy.reader,
        train=load(TrainParams, PARAMS),
        evaluate=load(EvaluateParams, PARAMS),
        most_confusions=load(ReportParams, PARAMS).confusions,
        calibration={"calibrated_on": "annotations", "calibration_queries": 1500},
        ood_threshold=None,
        counts=kept | read,
        occupations=framed(
            ((key, label, ["9" if key == "d" else "2", key]) for key, label in LABELS.items()),
            OCCUPATIONS,
        ),
        aliases=_aliases(),
        queries=queries_of(
            (key, test, "test", raw, gold, 3, "input") for key, test, raw, gold, _ in QUERY_ROWS
        ),
        history=framed(looks, HISTORY),
        run=framed(
            (
                ("typos", test, k, 1, name, TITLES[name][-1], 0.9)
                for k, test, *_, name in QUERY_ROWS
            ),
            RUN,
        ),
        scores=scores,
        table=_table(scores),
        feedback=FEEDBACK_COUNTS,
        verdicts=unmatched(VERDICT_ROWS, VERDICTS),
        resolutions=unmatched(RESOLUTION_ROWS, RESOLUTIONS),
        search=searching(embed),
    )


@pytest.fixture(scope="session")
def change(report_data: ReportData) -> Callable[..., ReportData]:
    """Make the same data with some of its parts replaced."""
    return partial(replace, report_data)


@pytest.fixture(scope="session")
def empty(report_data: ReportData) -> ReportData:
    """Make a data set whose tests have no query."""
    names = ("queries", "run", "scores", "table")
    return replace(report_data, **{name: getattr(report_data, name).clear() for name in names})
