"""The study of the loss on a toy: its arithmetic, its inputs against the pipeline's, tiny runs."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest
import torch
import yaml

from benchmarks import contrastive, contrastive_variants
from benchmarks.contrastive import gradient_share, main, start
from benchmarks.contrastive_variants import (
    PARTS,
    Material,
    as_in_paper,
    make_inputs,
    read_material,
    similar_pairs,
)
from benchmarks.names import unnamed
from benchmarks.render import page
from benchmarks.results_file import read_rows
from models.batches import read_pairs
from models.losses.contrastive import ContrastiveSettings, contrastive_loss, dissimilar_penalty
from models.strings import read_strings
from tasks import pairs, typos
from tasks.frames import write_frame
from tasks.schemas import QUERIES, SPLIT_ALIASES

PARAMS = Path(__file__).parents[2] / "params.yaml"
OWN = ("data entry clerk", "bread baker", "line cook", "forest ranger", "tram driver")
KINDS = ("", "senior ", "assistant ", "night ", "trainee ")
LOSS = ContrastiveSettings("hinge", 0.4, 0.25, 1.0, "hardest", 4)


def query(test: str, number: int, title: str, occupation: str) -> dict[str, object]:
    named = {"query_id": f"{test}-{number}", "test": test, "part": "valid", "raw_title": title}
    return named | {"occupation_ids": [occupation], "occupation_size": 6, "source": "alias"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five occupations of five titles, two kinds of validation queries, and a small network."""
    folder: Path = tmp_path_factory.mktemp("workspace")
    params = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))
    params["encoders"]["recurrent"] |= {"hidden": 3, "dim": 4, "dim_character": 3, "layers": 1}
    params["train"] |= {"batch_pairs": 20, "max_steps": 2}
    params["typos"] |= {"variants": 2, "probe_titles": 8}
    params["pairs"] |= {"rounds": 2, "row_group": 1024}
    params["evaluate"]["bootstrap_draws"] = 20
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    titles = [(f"o{k}", kind + own) for k, own in enumerate(OWN) for kind in KINDS]
    aliases = pl.DataFrame(titles, schema=["occupation_id", "title"], orient="row")
    aliases = aliases.with_columns(preferred=pl.lit(False), split=pl.lit("train"))
    queries = pl.DataFrame(
        [query("heldout_alias", k, f"chief {own}", f"o{k}") for k, own in enumerate(OWN)]
        + [query("annotations", k, f"{own} wanted", f"o{k}") for k, own in enumerate(OWN[:3])],
        schema=dict(QUERIES),
    )
    write_frame(aliases, folder / "data/split/aliases.parquet", SPLIT_ALIASES)
    write_frame(queries, folder / "data/split/queries.parquet", QUERIES)
    return folder


@pytest.fixture
def material(workspace: Path) -> Material:
    return read_material(workspace)


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
    found = {part: list(variants(material.settings)) for part, variants in PARTS.items()}
    names = [variant.system for variants in found.values() for variant in variants]
    assert len(set(names)) == len(names) == 1 + 14 + 5 + 4
    assert [variant.trained for variant in found["penalties"]] == [False] + 14 * [True]
    for variant in found["penalties"][1:]:
        way, penalty, margin = variant.system.split("/")
        loss = variant.loss
        assert (loss.negatives, loss.penalty, f"margin:{loss.margin:g}") == (way, penalty, margin)
        weights, few = ((0.25, 4.0), 4) if way == "pairs" else ((0.25, 1.0), 20)
        assert ((loss.weight_similar, loss.weight_dissimilar), variant.batch_pairs) == (
            weights,
            few,
        )
    chosen = {v.system: (v.ratio, v.loss.weight_dissimilar, v.batch_pairs) for v in found["ratios"]}
    assert chosen == {
        "pairs/ratio:1/equal_strings": (1, 1.0, 10),
        "pairs/ratio:1/equal_similar": (1, 1.0, 4),
        "pairs/ratio:4": (4, 4.0, 4),
        "pairs/ratio:9/equal_strings": (9, 9.0, 2),
        "pairs/ratio:9/equal_similar": (9, 9.0, 4),
    }
    assert [variant.rates for variant in found["typos"]] == list(contrastive_variants.RATES)
    assert {variant.loss for variant in found["typos"]} == {material.settings.loss}


@pytest.mark.parametrize(
    ("penalty", "share"), [("printed", 3 / 6), ("flipped", 2 / 6), ("hinge", 2 / 6)]
)
def test_share_with_a_gradient(penalty: str, share: float) -> None:
    """Margin 0.4: printed moves -0.3, 0.1 and 0.3 (not 0, its minimum); the others 0.5 and 0.9."""
    similarity = torch.tensor([-0.3, 0.0, 0.1, 0.3, 0.5, 0.9])
    loss = ContrastiveSettings(penalty, 0.4, 0.25, 1.0, "pairs", 1)  # type: ignore[arg-type]
    assert gradient_share(similarity, loss) == pytest.approx(share)


def test_inputs_are_those_of_the_pipelines_stage_1(
    workspace: Path, material: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    typos.main()
    for stage in ("0", "1"):
        monkeypatch.setattr(sys, "argv", ["pairs", "--stage", stage])
        pairs.main()
    noise = material.params.typos
    made, queries = make_inputs(material, 4, (noise.substituted, noise.deleted))
    there = read_pairs(Path("data/pairs/1/pairs.parquet"), with_dissimilar=True)
    assert torch.equal(made.pairs.similar, there.similar)
    assert torch.equal(made.pairs.dissimilar, there.dissimilar)
    strings = read_strings(Path("data/pairs/1/strings.parquet"))
    assert strings.titles == made.strings.titles
    assert queries.group_by("test", maintain_order=True).len().rows() == [
        ("heldout_alias", 5),
        ("annotations", 3),
        ("typos", 8),
    ]


def test_ratio_and_rates_change_training_alone(material: Material) -> None:
    made, queries = make_inputs(material, 4, (0.2, 0.05))
    for ratio, rates in ((1, (0.2, 0.05)), (9, (0.05, 0.0125))):
        other, same = make_inputs(material, ratio, rates)
        assert same.equals(queries)
        assert len(other.pairs.dissimilar) == ratio * len(other.pairs.similar)
        assert (other.strings.titles == made.strings.titles) == (rates == (0.2, 0.05))


def test_runs_of_a_seed_begin_alike_and_mining_leaves_pairs_out(material: Material) -> None:
    training, _ = make_inputs(material, 4, (0.2, 0.05))
    variants = list(PARTS["penalties"](material.settings))
    runs = {variant.system: start(training, variant, 3, 7) for variant in variants}
    first = next(iter(runs.values())).encoder.state_dict()
    for name, run in runs.items():
        assert bool(len(run.dissimilar)) != name.startswith("hardest/")
        assert run.settings.seed == 7 and run.settings.max_steps == 3
        for weight, other in zip(first.values(), run.encoder.state_dict().values(), strict=True):
            assert torch.equal(weight, other)


def test_losses_are_means_over_the_steps_between_looks(material: Material) -> None:
    training, _ = make_inputs(material, 4, (0.2, 0.05))
    variant = next(PARTS["typos"](material.settings))
    single = list(contrastive.looks(start(training, variant, 3, 1), 1))
    joined = list(contrastive.looks(start(training, variant, 3, 1), 2))
    assert [look.step for look in joined] == [0, 2, 3]
    assert joined[1].loss == pytest.approx((single[1].loss + single[2].loss) / 2)
    assert joined[2] == single[3]


def test_tiny_run_of_every_part(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part adds its systems to the file; every name is explained; the page has every table."""
    monkeypatch.chdir(workspace)
    before = 0
    for part, count in (("penalties", 15), ("ratios", 5), ("typos", 4)):
        main(["--only", part, "--steps", "3", "--every", "2"], tmp_path)
        rows = read_rows(tmp_path / "contrastive.csv")
        assert len({row["system"] for row in rows}) == before + count
        before += count
    assert unnamed(rows) == set()
    hinge = [row for row in rows if row["system"] == "pairs/hinge/margin:0.4"]
    found = {(row["test"], row["metric"]): row for row in hinge}
    assert {test for test, _ in found if test.startswith("step_")} == {
        "step_0000",
        "step_0002",
        "step_0003",
    }
    assert ("step_0000", "loss") not in found
    assert found["step_0003", "loss"]["n"] == "1"
    untrained = {row["test"] for row in rows if row["system"] == "untrained/printed/margin:0.5"}
    assert {"step_0000", "dissimilar_pairs", "valid"} <= untrained
    assert "step_0002" not in untrained
    final = found["valid", "success_at_1"]
    assert float(final["low"]) <= float(final["value"]) <= float(final["high"])
    last = float(found["step_0003", "valid_success_at_1"]["value"])
    assert float(final["value"]) == pytest.approx(last, abs=1e-4)
    assert final["n"] == "8" and final["command"].endswith(
        "--dataset sample --only penalties --steps 3 --every 2 --seeds 1"
    )
    text = page(tmp_path)
    for part in ("penalties", "sampling ratios", "typo rates"):
        assert f"### {part}\n" in text
    assert text.count("| step_0003 |") == 3
