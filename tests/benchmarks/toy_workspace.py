"""A small workspace for studies: pairs of mix `extra_words`, a model of mix `typos`."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
import yaml
from frames_of import aliases_of, frame_of

from benchmarks.workspace import COLUMNS, FILE
from models.network.kinds import fit_featurizer, make_encoder, save_model
from models.serving.search import Search
from tasks.check_params import load_params
from tasks.evaluation.ranking import rank_queries
from tasks.evaluation.systems import index_of
from tasks.io.frames import write_frame
from tasks.io.schemas import QUERIES, SCORES, SPLIT_ALIASES, SPLIT_INPUTS, STRINGS, TITLES
from tasks.pipeline.pairs.drawn_pairs import base_pairs, write_blocks
from tasks.pipeline.pairs.strings import base_strings
from tasks.pipeline.split import distinct_titles
from tasks.pipeline.train import training_settings

PARAMS = Path(__file__).parents[2] / "params.yaml"
JOBS = ("data entry clerk", "bread baker", "line cook", "forest ranger", "tram driver")
KINDS = ("", "senior ", "assistant ", "night ")
SHORT: dict[str, Any] = {"max_length": 30}
CHARACTERS: dict[str, Any] = {**SHORT, "dim_character": 3}
TINY: dict[str, dict[str, Any]] = {
    "recurrent": {**CHARACTERS, "layers": 1, "hidden": 3, "dim": 4},
    "attentive": {**SHORT, "dim_unit": 3, "hidden": 2},
    "ngram_bag": {**SHORT, "dim": 4},
    "char_lstm": {**CHARACTERS, "dim": 4},
    "convolution": {**CHARACTERS, "filters": [2, 2, 2], "dim": 4},
    "word_average": {"dim": 4, "min_count": 1},
}
WRITERS = ("typos", "synonyms", "extra_words")


def make_workspace(root: Path) -> Path:
    """Five occupations of four titles, every test with five queries, networks of few numbers."""
    params = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))
    for kind, values in TINY.items():
        params["encoders"][kind] |= values
    kinds = {"encoder": {"kind": "recurrent"}, "loss": {"kind": "contrastive"}}
    params["train"] |= kinds | {"batch_pairs": 6, "compatible_with": ""}
    params["pairs"] |= {"positives_per_anchor": 2, "row_group": 1024}
    params["evaluate"]["bootstrap_draws"] = 20
    root.mkdir(parents=True, exist_ok=True)
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    owned = [(f"o{k}", kind + job, not kind) for k, job in enumerate(JOBS) for kind in KINDS]
    aliases = aliases_of((*row, "train") for row in owned)
    titles = distinct_titles(aliases)
    write_frame(aliases, root / "data/split/aliases.parquet", SPLIT_ALIASES)
    write_frame(titles, root / "data/split/titles.parquet", TITLES)
    for stage in WRITERS:
        test = "composition" if stage == "synonyms" else stage  # each stage writes one test
        write_frame(queries(test, "test", "old "), root / f"data/{stage}/queries.parquet", QUERIES)
    split = [queries("heldout_alias", "test", "chief "), queries("annotations", "test", "a ")]
    split += [queries("heldout_alias", "valid", "head "), queries("annotations", "valid", "any ")]
    write_frame(pl.concat(split), root / "data/split/queries.parquet", QUERIES)
    bare = [(k, f"every {JOBS[k % 2]}", None, "unlabelled") for k in range(4)]
    write_frame(frame_of(bare, SPLIT_INPUTS), root / "data/split/inputs.parquet", SPLIT_INPUTS)
    _write_pairs(root, titles, pl.concat(split))
    _write_lexical(root, titles, pl.concat(split[:2]))
    _write_model(root)
    return root


def queries(test: str, split: str, front: str) -> pl.DataFrame:
    """One query an occupation."""
    rows = [
        (f"{test}-{split}-{k}", test, split, front + job, [f"o{k}"], 4, "alias")
        for k, job in enumerate(JOBS)
    ]
    return frame_of(rows, QUERIES)


def write_board(folder: Path, rows: list[tuple[str, str]]) -> None:
    """Write the job board: titles with their occupation."""
    (folder / FILE).parent.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame(rows, schema=list(COLUMNS.values()), orient="row")
    frame.write_csv(folder / FILE)


def _write_pairs(root: Path, titles: pl.DataFrame, split: pl.DataFrame) -> None:
    strings = base_strings(titles, split)
    params = load_params(root / "params.yaml")
    write_frame(strings, root / "data/pairs/extra_words/strings.parquet", STRINGS)
    blocks = base_pairs(strings, params.pairs, np.random.default_rng(1))
    write_blocks(blocks, root / "data/pairs/extra_words/pairs.parquet")


def _write_lexical(root: Path, titles: pl.DataFrame, tests: pl.DataFrame) -> None:
    """Two systems that find every occupation equal."""
    rule, index = load_params(root / "params.yaml").evaluate.rule, index_of(titles)
    files = [root / f"data/{stage}/queries.parquet" for stage in WRITERS]
    several, count = [tests, *map(pl.read_parquet, files)], len(index.titles)
    search = Search(index, lambda own: np.zeros((len(own), count), np.float32), rule)
    frames = [rank_queries(name, search, pl.concat(several), 5)[0] for name in ("ngram", "tfidf")]
    write_frame(pl.concat(frames), root / "data/lexical/scores.parquet", SCORES)


def _write_model(root: Path) -> None:
    settings = training_settings(load_params(root / "params.yaml").network, 1)
    titles = [kind + job for job in JOBS for kind in KINDS]
    featurizer = fit_featurizer(titles, settings.encoder)
    torch.manual_seed(7)
    weights = make_encoder(settings.encoder, featurizer).state_dict()
    save_model(root / "data/train/typos/1/model", featurizer, settings.encoder, weights, {})
