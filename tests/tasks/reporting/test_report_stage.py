"""The stage on files: whole page or none, and an error that names what is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
import torch

from models.featurizer import CharacterFeaturizer
from models.model_files import save_model
from models.recurrent import RecurrentEncoder, RecurrentSettings
from tasks.frames import SchemaError, write_frame, write_json
from tasks.report import PAGE, main
from tasks.schemas import OCCUPATIONS, QUERIES, RUN, SCORES, SPLIT_ALIASES

REPOSITORY = Path(__file__).parents[3]


def save_tiny_model(folder: Path, titles: list[str]) -> None:
    featurizer = CharacterFeaturizer.fit(titles, max_length=40)
    settings = RecurrentSettings("fast", 40, 4, 1, 3, 5, 0.0, 0.0)
    torch.manual_seed(0)
    weights = RecurrentEncoder(settings, featurizer.vocabulary_size).state_dict()
    save_model(folder, featurizer, settings, weights, weights)


@pytest.fixture
def written(material, tmp_path, monkeypatch):
    """A working directory with every file that the stage reads."""
    data = tmp_path / "data"
    shutil.copy(REPOSITORY / "params.yaml", tmp_path)
    k = material.params.stage
    typos = pl.col("test") == "typos"
    write_json(material.counts, data / "ingest/metrics.json")
    write_frame(material.occupations, data / "ingest/occupations.parquet", OCCUPATIONS)
    write_frame(material.aliases, data / "split/aliases.parquet", SPLIT_ALIASES)
    write_frame(material.queries.filter(~typos), data / "split/queries.parquet", QUERIES)
    write_frame(material.queries.filter(typos), data / "typos/queries.parquet", QUERIES)
    write_frame(material.run, data / f"evaluate/{k}/run.parquet", RUN)
    write_frame(material.scores, data / f"evaluate/{k}/scores.parquet", SCORES)
    material.table.write_csv(data / f"evaluate/{k}/table.csv")
    save_tiny_model(data / f"train/{k}/model", material.aliases["title"].to_list())
    material.history.write_csv(data / f"train/{k}/history.csv")
    monkeypatch.chdir(tmp_path)
    return data


def test_stage_writes_the_same_page_twice_and_nothing_else(written):
    main()
    first = PAGE.read_bytes()
    main()
    assert PAGE.read_bytes() == first
    assert [path.name for path in PAGE.parent.iterdir()] == [PAGE.name]
    assert first.endswith(b"</html>\n")
    assert b"lorry &lt;b&gt;driver&lt;/b&gt;" in first


def test_missing_stage_is_named_and_no_page_is_left(written):
    (written / "typos/queries.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"typos/queries\.parquet is missing"):
        main()
    assert not PAGE.exists()


def test_history_without_its_column_is_refused(written, material):
    path = written / f"train/{material.params.stage}/history.csv"
    material.history.drop("valid_success_at_1").write_csv(path)
    with pytest.raises(SchemaError, match="valid_success_at_1: missing"):
        main()
    assert not PAGE.exists()
