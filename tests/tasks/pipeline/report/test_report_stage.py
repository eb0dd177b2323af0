"""The stage on files: whole page or none, and an error that names what is missing."""

import json
from pathlib import Path

import polars as pl
import pytest
import torch
from frames_of import write_exemplars
from params_of import write_params

from models.encoders.recurrent import RecurrentSettings
from models.network.kinds import fit_featurizer, make_encoder, save_model
from tasks.evaluation.metric_tables import write_table
from tasks.io import schemas
from tasks.io.files import write_json
from tasks.io.frames import write_frame
from tasks.pipeline.report.stage import METRICS, PAGE, main
from tasks.pipeline.split import distinct_titles


def save_tiny_model(folder: Path, titles: list[str]) -> None:
    settings = RecurrentSettings("fast", 40, 4, 1, 3, 5, 0.0, 0.0)
    featurizer = fit_featurizer(titles, settings)
    torch.manual_seed(0)
    weights = make_encoder(settings, featurizer).state_dict()
    save_model(folder, featurizer, settings, weights, weights)


@pytest.fixture
def written(report_data, tmp_path, monkeypatch):
    """Make a working directory with every file that the stage reads."""
    data = tmp_path / "data"
    k, seed = report_data.mix, 1
    write_params(tmp_path, mix=k, seeds=[seed, seed + 1])
    typos, lexical = pl.col("test") == "typos", pl.col("system") == "ngram"
    write_json(report_data.counts, data / "ingest/metrics.json")
    write_frame(report_data.occupations, data / "ingest/occupations.parquet", schemas.OCCUPATIONS)
    write_frame(report_data.aliases, data / "split/aliases.parquet", schemas.SPLIT_ALIASES)
    titles = distinct_titles(report_data.aliases)
    write_frame(titles, data / "split/titles.parquet", schemas.TITLES)
    write_frame(report_data.queries.filter(~typos), data / "split/queries.parquet", schemas.QUERIES)
    write_frame(report_data.queries.filter(typos), data / "typos/queries.parquet", schemas.QUERIES)
    for stage in ("synonyms", "extra_words"):
        write_frame(report_data.queries.clear(), data / f"{stage}/queries.parquet", schemas.QUERIES)
    for folder, mine in (("lexical", lexical), (f"evaluate/{k}/{seed}", ~lexical)):
        write_frame(report_data.run.filter(mine), data / folder / "run.parquet", schemas.RUN)
        scores = report_data.scores.filter(mine)
        write_frame(scores, data / folder / "scores.parquet", schemas.SCORES)
        write_table(report_data.table.filter(mine), data / folder / "table.csv", schemas.TABLE)
    save_tiny_model(data / f"train/{k}/{seed}/model", titles["title"].to_list())
    write_table(report_data.history, data / f"train/{k}/{seed}/history.csv", schemas.HISTORY)
    write_exemplars(data / f"calibrate/{k}/{seed}", exemplars=[("bread baker", "a", 1.0, "label")])
    write_json(report_data.calibration, data / f"calibrate/{k}/{seed}/metrics.json")
    monkeypatch.chdir(tmp_path)
    return data


@pytest.mark.thorough
def test_stage_writes_the_same_page_twice_and_nothing_else(written):
    """Answer both typos right, and of four annotations one; metrics leave out baselines, slices."""
    main()
    first = PAGE.read_bytes()
    main()
    assert PAGE.read_bytes() == first
    assert {path.name for path in PAGE.parent.iterdir()} == {PAGE.name, METRICS.name}
    assert first.endswith(b"</html>\n")
    assert b"lorry &lt;b&gt;driver&lt;/b&gt;" in first
    assert b"n-gram matcher" in first and b"network, untrained" in first  # of both folders
    assert json.loads(METRICS.read_text(encoding="utf-8")) == {"annotations": 0.25, "typos": 1.0}


def test_missing_stage_is_named_and_no_page_is_left(written):
    (written / "typos/queries.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"typos/queries\.parquet is missing"):
        main()
    assert not PAGE.exists()
