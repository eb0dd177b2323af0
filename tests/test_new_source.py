"""CONTRIBUTING's recipe of a new augmentation, followed in a copy of the tree.

The source is a module, its line in `tasks/io/mixes.py`, its section and its share of pairs in
`params.yaml`, and its stage in `dvc.yaml`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from background import ran
from pipeline_graph import read_pipeline
from small_pipeline import ROOT, Place

STAGE = '''"""Stage `shouted`: titles with a mark of exclamation, and a test of them."""

from pathlib import Path
from typing import ClassVar

import polars as pl

from tasks.io.command import run
from tasks.io.frames import read_frame, write_frame
from tasks.io.mixes import earlier_queries, earlier_variants
from tasks.io.schemas import QUERIES, TITLES, VARIANTS
from tasks.io.section import Section, load
from tasks.io.title_readings import with_readings, without


class ShoutedParams(Section):
    """Section `shouted`."""

    NAME: ClassVar[str] = "shouted"
    word: str


def main() -> None:
    word = load(ShoutedParams).word
    titles = read_frame(Path("data/split/titles.parquet"), TITLES).filter(split="train")
    taken = {*earlier_queries("shouted")["normalized"], *earlier_variants("shouted")["normalized"]}
    raw = titles.with_columns(raw_title=pl.format("{} {}", "title", pl.lit(word)))
    free = without(with_readings(raw), taken).with_row_index()
    test, train = free.filter(pl.col("index") % 5 == 0), free.filter(pl.col("index") % 5 > 0)
    queries = test.with_columns(
        query_id=pl.format("shouted-{}", "index"), test=pl.lit("shouted"),
        split=pl.lit("test"), source=pl.lit("shouted"),
    )
    variants = train.select("title", variant="cleaned", normalized="normalized")
    write_frame(variants, Path("data/shouted/variants.parquet"), VARIANTS)
    write_frame(queries.select(list(QUERIES)), Path("data/shouted/queries.parquet"), QUERIES)


if __name__ == "__main__":
    run(main)
'''
DVC_STAGE = """
  shouted:
    desc: titles with a mark of exclamation
    cmd: python -m tasks.pipeline.shouted
    deps:
      [data/split/titles.parquet, data/split/queries.parquet, data/typos, data/synonyms,
       data/extra_words, tasks/pipeline/shouted.py, tasks/io, models/text,
       models/reproducibility.py]
    params: [seed, shouted]
    outs: [data/shouted/variants.parquet, data/shouted/queries.parquet]
"""
EDITS = {
    "tasks/io/mixes.py": [
        (
            'pl.col("split") == "train"),\n',
            'pl.col("split") == "train"),\n    PairSource("shouted", "shouted"),\n',
        ),
    ],
    "dvc.yaml": [
        ("synonyms, extra_words]", "synonyms, extra_words, shouted]"),
        ("last_mix: extra_words", "last_mix: shouted"),
        ("synonyms, extra_words, verdicts", "synonyms, extra_words, shouted, verdicts"),
        (
            "      verdicts: {source",
            "      shouted: {source: data/shouted/variants.parquet,"
            " before: data/pairs/extra_words}\n      verdicts: {source",
        ),
        ("data/extra_words/queries.parquet,", "data/extra_words/queries.parquet, data/shouted,"),
        (" data/extra_words,\n", " data/extra_words, data/shouted,\n"),
        ("\n  auxiliary_taxonomy:\n", f"{DVC_STAGE}\n  auxiliary_taxonomy:\n"),
    ],
}
RUN = """
import runpy, sys
from pathlib import Path
from pipeline_graph import module_of
from tasks.io.mixes import LAST, MIXES, SOURCES, reads_feedback
stages = ["check_params", "ingest", "split", *(source.stage for source in SOURCES)]
stages += ["auxiliary_taxonomy", "lexical"]
for mix in MIXES:
    stages.append(f"pairs --mix {mix}")
    train = "train_feedback" if reads_feedback(mix) else "train"
    stages += [f"{stage} --mix {mix} --seed 1" for stage in (train, "calibrate", "evaluate")]
    if mix == LAST:
        stages += ["simulate_feedback --seed 1", "feedback"]
for stage in (*stages, "report", "table3"):
    name, *options = stage.split()
    sys.argv = [name, *options]
    module = "tasks.check_params" if name == "check_params" else module_of(name, Path(sys.path[0]))
    runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code, of `dvc.yaml` and `params.yaml` with one source more."""
    tree = tmp_path_factory.mktemp("tree")
    for folder in ("tasks", "models", ".dvc"):
        ignored = shutil.ignore_patterns("__pycache__", "cache", "tmp")
        shutil.copytree(ROOT / folder, tree / folder, ignore=ignored)
    shutil.copy(ROOT / "tests/pipeline_graph.py", tree)
    (tree / "tasks/pipeline/shouted.py").write_text(STAGE, encoding="utf-8")
    for name, changes in EDITS.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text, (name, old)
            text = text.replace(old, new)
        (tree / name).write_text(text, encoding="utf-8")
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["pairs"]["shares"]["shouted"] = 0.2
    params |= {"shouted": {"word": "wanted!"}}
    (tree / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    return tree


@pytest.mark.slow
def test_dvc_has_the_new_mix_between_the_sources_and_feedback(tree: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    pipeline = read_pipeline(tree)
    read = pipeline.graph.successors
    assert set(read("pairs@shouted")) == {"split", "pairs@extra_words", "shouted"}
    assert "pairs@shouted" in set(read("pairs@verdicts"))
    assert "train@shouted-1" in set(read("train_feedback@corrections-1"))
    assert {"train@shouted-1", "shouted"} <= set(read("simulate_feedback"))
    for reader in ("auxiliary_taxonomy", "lexical", "feedback", "evaluate@base-1", "report"):
        assert "shouted" in set(read(reader)), reader


@pytest.mark.slow
def test_all_stages_take_the_new_source(tree: Path, tmp_path: Path) -> None:
    """Its variants train, its queries are a test of every system, and people judge its mix."""
    place = Place(tmp_path)
    folder, shares = place.params["ingest"], place.params["pairs"]["shares"]
    place.params |= yaml.safe_load((tree / "params.yaml").read_text()) | {"ingest": folder}
    place.params["pairs"]["shares"] = shares | {"shouted": 0.2}
    place.params["train"].update(max_steps=2, evaluate_every=1, batch_pairs=8)
    place.params["encoders"]["ngram_bag"].update(dim=4)
    place.params["synonyms"]["reader"] = "none"
    place.write_params()
    code = f"import sys; sys.path.insert(0, {str(tree)!r})\n{RUN}"
    command = (sys.executable, "-W", "ignore", "-c", code)
    done = ran(tmp_path, *command, PYTHONPATH=str(tree))
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-3000:]
    pairs = place.frame("pairs/shouted/pairs").filter("similar")
    assert "shouted" in set(pairs["source"])
    for scores in ("lexical/scores", "evaluate/corrections/1/scores"):
        assert "shouted" in set(place.frame(scores)["test"])
    assert "shouted" in (tmp_path / "data/table3/table3.md").read_text(encoding="utf-8")
