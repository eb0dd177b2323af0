"""The stage `scored_pairs`: both readers, the parts of the paraphrases, whole files or none."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from params_of import write_params

from tasks.io.frames import read_frame
from tasks.io.schemas import REJECTED
from tasks.io.section import ParamsError
from tasks.papers.similarity.pair_files import (
    FOLDER,
    PAIRS,
    PARAPHRASE_PARTS,
    PARAPHRASES,
    SAMPLE,
    SCORED_PAIRS,
    scaled,
    score_range,
)
from tasks.papers.similarity.readers import MSRP, SICK, STS_FILES
from tasks.papers.similarity.scored_pairs import in_parts, main
from tasks.tables.source_files import IngestError

ROOT = Path(__file__).parents[4]
OUT = {"pairs.parquet", "paraphrases.parquet", "rejected.parquet", "metrics.json"}


def run_stage(**changes: Any) -> dict[str, Any]:
    """Run `main` on the sample, with the section `scored_pairs` changed; return its counts."""
    write_params(scored_pairs={"folder": str(ROOT / "data/sample")} | changes)
    main()
    counts: dict[str, Any] = json.loads((FOLDER / "metrics.json").read_text())
    return counts


def test_the_sample(here: Path) -> None:
    counts = run_stage(valid_paraphrases=20)
    pairs, links = read_frame(PAIRS, SCORED_PAIRS), read_frame(PARAPHRASES, PARAPHRASE_PARTS)
    assert set(pairs["dataset"]) == set(SAMPLE)
    assert dict(links.group_by("split").len().iter_rows()) == {"train": 143, "valid": 20}
    assert read_frame(FOLDER / "rejected.parquet", REJECTED).is_empty()
    assert counts["pairs"]["sample_sentences"] == {"train": 50, "valid": 12, "test": 24}
    assert counts["rows_read"] == {"scored_pairs.csv": 108, "paraphrases.csv": 163}
    assert counts["paraphrases"]["train"] == 143


def test_the_publishers_files(here: Path) -> None:
    """18 STS sets, two of them with a training part; 2015's unscored pair is a notice."""
    texts = {
        "SimLex-999.txt": "word1\tword2\tSimLex999\nold\tnew\t1.58\n",
        "ppdb.txt": "big large huge\nlarge big\nhuge big\nsmall\n",
    }
    for file in SICK.files.values():
        head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\n"
        texts[f"sts/sick2014/{file}"] = f"{head}1\tA man runs\tA man is running\t4.2\n"
    for file in MSRP.files.values():
        head = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
        texts[f"sts/msrp/{file}"] = f'{head}1\t1\t2\tHe said "no\tHe said no\n'
    for file in STS_FILES.values():
        unscored = "\tone\tother\n" if file.startswith("2015") else ""
        texts[f"sts/semeval/{file}"] = f"2.5\ta cat\ta dog\n{unscored}"
    for name, text in texts.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text, encoding="utf-8")
    files = {"sentences": "sts", "words": "SimLex-999.txt", "paraphrases": "ppdb.txt"}
    own: dict[str, Any] = {"folder": ".", "reader": "published", "files": files}
    counts = run_stage(**own, valid_paraphrases=1, max_rejected_share=0.1)
    kept = counts["pairs"]
    sts = {name for name, parts in kept.items() if name.startswith("sts20") and "test" in parts}
    assert len(sts) == 18 and set(kept) - sts == {"sick", "msrp", "simlex"}
    assert kept["sts2012/MSRpar"] == {"test": 1, "train": 1}
    links = read_frame(PARAPHRASES, PARAPHRASE_PARTS)
    assert links["head", "paraphrase"].rows() == [("big", "large"), ("big", "huge")]
    assert sorted(links["split"]) == ["train", "valid"]
    unscored = "pair that the publisher left without a score"
    assert counts["rejected"] == {"empty paraphrase": 1, unscored: 5}
    assert counts["rejected_errors"] == 1


def test_too_many_faults_leave_the_rejected_rows_and_nothing_else(here: Path) -> None:
    bad = "dataset,split,left,right,score\nsample_words,test,a,b,1\nsample_words,test,a,b,9\n"
    (here / "own").mkdir()
    (here / "own/bad.csv").write_text(bad)
    shutil.copy(ROOT / "data/sample/paraphrases.csv", here / "own")
    files = {"sentences": "bad.csv", "words": "bad.csv", "paraphrases": "paraphrases.csv"}
    own: dict[str, Any] = {"folder": "own", "files": files}
    with pytest.raises(IngestError, match=r"1 of 165 rows were rejected, more than .*= 0\.001"):
        run_stage(**own, max_rejected_share=0.001)
    rejected = read_frame(FOLDER / "rejected.parquet", REJECTED)
    assert rejected.select("file", "line").rows() == [("own/bad.csv", 3)]
    assert {path.name for path in FOLDER.iterdir()} == {"rejected.parquet"}
    run_stage(**own, max_rejected_share=0.01)
    assert {path.name for path in FOLDER.iterdir()} == OUT


def test_a_file_outside_the_folder_is_refused(here: Path) -> None:
    """DVC watches the folder alone."""
    files = {"sentences": "a.csv", "words": "/b.csv", "paraphrases": "c.csv"}
    with pytest.raises(ParamsError, match=r"/b\.csv is not below scored_pairs\.folder = "):
        run_stage(files=files)


def test_equal_seeds_draw_the_same_links_to_validate() -> None:
    links = pl.DataFrame({"head": list("abcdefgh"), "paraphrase": list("ijklmnop")})
    drawn = in_parts(links, 3, seed=1)
    assert set(drawn.schema) == set(PARAPHRASE_PARTS)
    assert drawn.drop("split").equals(links)
    assert (drawn["split"] == "valid").sum() == 3
    assert drawn.equals(in_parts(links, 3, seed=1))
    assert any(not drawn.equals(in_parts(links, 3, seed=seed)) for seed in (2, 3, 4))
    assert set(in_parts(links, 0, seed=1)["split"]) == {"train"}
    with pytest.raises(IngestError, match="valid_paraphrases = 8 leaves none of 8"):
        in_parts(links, 8, seed=1)


def test_golden_scores_between_0_and_1() -> None:
    """SICK 3 of 1 to 5: 0.5; STS 1.5 of 0 to 5: 0.3; MSRP as it is; a sample word 4: 0.8."""
    scores = {"sick": 3.0, "sts2012/OnWN": 1.5, "msrp": 1.0, "sample_words": 4.0}
    rows = [(dataset, "test", "a", "b", score) for dataset, score in scores.items()]
    frame = pl.DataFrame(rows, schema=dict(SCORED_PAIRS), orient="row")
    assert scaled(frame)["score"].to_list() == pytest.approx([0.5, 0.3, 1.0, 0.8])
    with pytest.raises(IngestError, match=r"no range of scores is known for 'stsb', only for \["):
        score_range("stsb")
