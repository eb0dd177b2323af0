"""The study of the loss on a toy: its arithmetic, its inputs against the pipeline's, tiny runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
import yaml
from frames_of import queries_of, titles_of

from benchmarks.__main__ import measure
from benchmarks.results import read_rows, read_runs
from benchmarks.studies.contrastive.measure import gradient_share
from benchmarks.studies.contrastive.variants import (
    PARTS,
    RATES,
    Material,
    as_in_paper,
    read_material,
    similar_pairs,
    write_pairs,
)
from benchmarks.study import study
from benchmarks.workspace import Workspace
from models.losses.contrastive import ContrastiveSettings, contrastive_loss, dissimilar_penalty
from models.training.batches import read_pairs
from models.training.strings import read_strings
from tasks import pairs, typos
from tasks.files.frames import write_frame
from tasks.files.schemas import COMPANION, QUERIES, TITLES
from tasks.pairing.strings_table import NOTHING_BESIDE
from tasks.params.whole import load_params

PARAMS = Path(__file__).parents[2] / "params.yaml"
OWN = ("data entry clerk", "bread baker", "line cook", "forest ranger", "tram driver")
KINDS = ("", "senior ", "assistant ", "night ", "trainee ")
LOSS = ContrastiveSettings("hinge", 0.4, 0.25, 1.0, "hardest", 4)


def query(test: str, number: int, title: str) -> tuple[object, ...]:
    return f"{test}-{number}", test, "valid", title, [f"o{number}"], 6, "alias"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five occupations of five titles, two kinds of validation queries, and a small network."""
    folder: Path = tmp_path_factory.mktemp("workspace")
    params = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))
    params["encoders"]["recurrent"] |= {"hidden": 3, "dim": 4, "dim_character": 3, "layers": 1}
    params["train"] |= {"batch_pairs": 20, "max_steps": 2, "compatible_with": ""}
    params["train"] |= {"encoder": {"kind": "recurrent"}, "loss": {"kind": "contrastive"}}
    params["typos"] |= {"variants": 2, "probe_titles": 8, "gate_titles": 8}
    params["pairs"] |= {"rounds": 2, "row_group": 1024}
    params["evaluate"] |= {"occupation_score": "best", "bootstrap_draws": 20}  # as in `paper`
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    titles = titles_of(
        (f"o{k}", kind + own, "train") for k, own in enumerate(OWN) for kind in KINDS
    )
    queries = queries_of(
        [query("heldout_alias", k, f"chief {own}") for k, own in enumerate(OWN)]
        + [query("annotations", k, f"{own} wanted") for k, own in enumerate(OWN[:3])]
    )
    write_frame(titles, folder / "data/split/titles.parquet", TITLES)
    write_frame(queries, folder / "data/split/queries.parquet", QUERIES)
    write_frame(NOTHING_BESIDE, folder / "data/companion/titles.parquet", COMPANION)
    return folder


@pytest.fixture
def material(own: Path) -> Material:
    return read_material(Workspace("paper", own, load_params(own / "params.yaml")))


def test_steps_of_about_as_many_strings() -> None:
    """128/2 = 64, 128/5 = 25.6, 128/10 = 12.8; times 2·(1 + r) strings: 256, 260, 260."""
    assert [similar_pairs(128, ratio) for ratio in (1, 4, 9)] == [64, 26, 13]
    assert similar_pairs(2, 9) == 2


@pytest.mark.parametrize("ratio", [1, 4, 9])
def test_weights_of_means_are_the_papers_sum(ratio: int) -> None:
    """The sum over pairs, one by one, divided by the number of similar ones."""
    similarity = torch.linspace(-0.9, 1.0, 6 * (1 + ratio))
    similar = torch.arange(len(similarity)) < 6
    total = 0.0
    for value, alike in zip(similarity, similar, strict=True):
        total += float(
            0.25 * (1 - value) ** 2 if alike else dissimilar_penalty(value, "hinge", 0.4)
        )
    loss = contrastive_loss(similarity, similar, ~similar, as_in_paper(LOSS, ratio))
    assert loss.total.item() == pytest.approx(total / 6, rel=1e-5)


def test_parts_vary_what_their_names_say(material: Material) -> None:
    by_part = {part: list(variants(material.settings)) for part, variants in PARTS.items()}
    names = [variant.system for variants in by_part.values() for variant in variants]
    assert len(set(names)) == len(names) == 5 + 30 + 5 + 4
    assert [variant.trained for variant in by_part["penalties"]] == 5 * [False] + 30 * [True]
    for variant in by_part["penalties"][5:]:
        way, penalty, margin = variant.system.split("/")
        loss = variant.loss
        assert (loss.negatives, loss.penalty, f"margin:{loss.margin:g}") == (way, penalty, margin)
        weights, few = ((0.25, 4.0), 4) if way == "pairs" else ((0.25, 1.0), 20)
        assert ((loss.weight_similar, loss.weight_dissimilar), variant.batch_pairs) == (
            weights,
            few,
        )
    chosen = {
        v.system: (v.ratio, v.loss.weight_dissimilar, v.batch_pairs) for v in by_part["ratios"]
    }
    assert chosen == {
        "pairs/ratio:1/equal_strings": (1, 1.0, 10),
        "pairs/ratio:1/equal_similar": (1, 1.0, 4),
        "pairs/ratio:4": (4, 4.0, 4),
        "pairs/ratio:9/equal_strings": (9, 9.0, 2),
        "pairs/ratio:9/equal_similar": (9, 9.0, 4),
    }
    assert [variant.rates for variant in by_part["typos"]] == list(RATES)
    assert {variant.loss for variant in by_part["typos"]} == {material.settings.loss}


@pytest.mark.parametrize(
    ("penalty", "share"), [("printed", 3 / 6), ("flipped", 2 / 6), ("hinge", 2 / 6)]
)
def test_share_with_a_gradient(penalty: str, share: float) -> None:
    """Margin 0.4: printed moves -0.3, 0.1 and 0.3 (not 0, its minimum); the others 0.5 and 0.9."""
    similarity = torch.tensor([-0.3, 0.0, 0.1, 0.3, 0.5, 0.9])
    loss = ContrastiveSettings(penalty, 0.4, 0.25, 1.0, "pairs", 1)  # type: ignore[arg-type]
    assert gradient_share(similarity, loss) == pytest.approx(share)


def test_pairs_are_those_of_the_pipelines_mix_1(
    own: Path, material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own)
    typos.main()
    for mix in ("0", "1"):
        monkeypatch.setattr(sys, "argv", ["pairs", "--mix", mix])
        pairs.main()
    noise = material.params.typos
    queries = write_pairs(material, 4, (noise.substituted, noise.deleted), tmp_path)
    made, there = (
        read_pairs(folder / "pairs.parquet", with_dissimilar=True)
        for folder in (tmp_path, Path("data/pairs/1"))
    )
    assert torch.equal(made.similar, there.similar)
    assert torch.equal(made.dissimilar, there.dissimilar)
    titles = [
        read_strings(folder / "strings.parquet").titles
        for folder in (tmp_path, Path("data/pairs/1"))
    ]
    assert titles[0] == titles[1]
    assert queries.group_by("test", maintain_order=True).len().rows() == [
        ("heldout_alias", 5),
        ("annotations", 3),
        ("typos", 8),
    ]


def test_ratio_and_rates_change_training_alone(material: Material, tmp_path: Path) -> None:
    queries, titles = [], []
    for ratio, rates in ((4, (0.2, 0.05)), (1, (0.2, 0.05)), (9, (0.05, 0.0125))):
        queries.append(write_pairs(material, ratio, rates, tmp_path))
        made = read_pairs(tmp_path / "pairs.parquet", with_dissimilar=True)
        assert len(made.dissimilar) == ratio * len(made.similar)
        titles.append(read_strings(tmp_path / "strings.parquet").titles)
    assert queries[0].equals(queries[1]) and queries[0].equals(queries[2])
    assert titles[0] == titles[1] != titles[2]


def test_tiny_run_of_every_part(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part adds its systems to the file; every name is explained; runs say what they measured."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".workspaces").mkdir()
    (tmp_path / ".workspaces/paper").symlink_to(own)
    before = 0
    for part, count in (("penalties", 35), ("ratios", 5), ("typos", 4)):
        words = ["--only", part, "--steps", "3", "--every", "2", "--processes", "1"]
        measure(study("contrastive"), words, tmp_path)
        rows = read_rows(tmp_path / "contrastive.csv")
        assert len({row["system"] for row in rows}) == before + count
        before += count
    assert list(study("contrastive").meanings(rows))
    hinge = [row for row in rows if row["system"] == "pairs/hinge/margin:0.4"]
    figures = {(row["test"], row["metric"]): row for row in hinge}
    steps = {test for test, _ in figures if test.startswith("step_")}
    assert steps == {"step_0000", "step_0002", "step_0003"}
    assert ("step_0000", "loss") not in figures
    assert figures["step_0003", "loss"]["n"] == "1"
    untrained = {row["test"] for row in rows if row["system"] == "untrained/printed/margin:0.4"}
    assert {"step_0000", "dissimilar_pairs", "valid"} <= untrained
    assert "step_0002" not in untrained
    firsts = {row["value"] for row in rows if row["test"] == "step_0000"}
    assert len(firsts) <= 4  # those of a seed begin alike; typo rates make other characters known
    final = figures["valid", "success_at_1"]
    assert float(final["low"]) <= float(final["value"]) <= float(final["high"])
    last = float(figures["step_0003", "valid_success_at_1"]["value"])
    assert float(final["value"]) == pytest.approx(last, abs=1e-4)
    assert final["n"] == "8"
    assert read_runs(tmp_path)["contrastive-1"]["command"] == (
        "make retrain PROFILE=paper && python -m benchmarks contrastive --dataset paper "
        "--only penalties --steps 3 --every 2 --seeds 1"
    )
