"""A finished run in miniature: invented frames and a tiny network, below a folder of its own."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
import yaml
from frames_of import aliases_of, queries_of, write_exemplars

from models.encoders.recurrent import RecurrentSettings
from models.network.embedding import embed_titles
from models.network.encoder import Encoder
from models.network.kinds import fit_featurizer, make_encoder, save_model
from models.network.quantization import packed, unpacked
from models.text.featurizer import Featurizer
from tasks.io.files import write_json
from tasks.io.frames import write_frame
from tasks.io.schemas import GROUPS, OCCUPATIONS, QUERIES, SPLIT_ALIASES, TITLES
from tasks.pipeline.split import distinct_titles

ROOT = Path(__file__).parents[2]
SETTINGS = RecurrentSettings("fast", 20, 4, 1, 4, 8, 0.0, 0.0)
TAXONOMY = {
    "baker": ("Baker", ["7", "75"], ["Baker", "Bread maker", "BREAD  maker", "Confectioner"]),
    "developer": ("C++ developer", ["2", "25"], ["C++ developer", "Coder", "Programmer"]),
    "estate": ("Real estate developer", ["3"], ["Real estate developer", "Developer"]),
    "nurse": ("Nurse", ["2", "22"], ["Nurse", "Ward sister", "Nurse (night)"]),
}
NAMES = ["Software developer", "Developer", "Coder", "Software maker"]
TAXONOMY["software"] = (NAMES[0], ["2", "25"], NAMES)
"""occupation_id to label, codes, aliases; a baker's third is written like the second, and
"Developer" and "Coder" belong to two."""


def aliases() -> pl.DataFrame:
    """All titles; the last one of each occupation is held out of the index of the evaluation."""
    return aliases_of(
        (name, title, number == 0, "gate" if number == len(titles) - 1 > 1 else "train")
        for name, (_, _, titles) in TAXONOMY.items()
        for number, title in enumerate(titles)
    )


def occupations() -> pl.DataFrame:
    rows = [(name, label, codes) for name, (label, codes, _) in TAXONOMY.items()]
    return pl.DataFrame(rows, schema=dict(OCCUPATIONS), orient="row")


def queries(split: str, repeats: int) -> pl.DataFrame:
    """Each title as it stands, `repeats` times, so that a network can be right or wrong."""
    return queries_of(
        (f"{split}-{number}-{row}", "typos", split, title, [name], 4, "typo")
        for number in range(repeats)
        for row, (name, title) in enumerate(aliases().select("occupation_id", "title").rows())
    )


def network(seed: int) -> tuple[Featurizer, Encoder]:
    """Weights large enough for titles to differ."""
    featurizer = fit_featurizer(aliases()["cleaned"].to_list(), SETTINGS)
    torch.manual_seed(seed)
    encoder = make_encoder(SETTINGS, featurizer).eval()
    with torch.no_grad():
        for weight in encoder.parameters():
            weight.mul_(3)
    return featurizer, encoder


def embedded(seed: int, titles: list[str]) -> np.ndarray:
    """Embed with the network of a seed as it is registered, in bytes: (title, dim)."""
    featurizer, encoder = network(seed)
    encoder.load_state_dict(unpacked(packed(encoder, "byte")))
    return embed_titles(encoder, featurizer, titles).numpy()


def useless() -> dict[str, torch.Tensor]:
    """Weights that give every title the same embedding."""
    weights = network(0)[1].state_dict().items()
    return {name: torch.full_like(weight, 0.1 * (weight.dim() < 2)) for name, weight in weights}


def register_section(name: str) -> dict[str, Any]:
    """Return section `register` of the sample's parameters with what suits a tiny model."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    return {**params["register"], "name": name, "top_k": 2, "precision": "byte"}


def change_params(root: Path, section: str, **values: object) -> None:
    """Change values of a section of a run's `params.yaml`."""
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    params[section] |= values
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")


def make_run(root: Path, seed: int = 1, good: bool = True, **changes: Any) -> Path:
    """Write what register and promote read; `changes` replace top values of `params.yaml`."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["register"]["name"] = "rolecall"
    params |= {"mix": "typos", "seeds": [7, 1]} | changes
    root.mkdir(parents=True, exist_ok=True)
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    (root / "dvc.lock").write_text("schema: '2.0'\n", encoding="utf-8")
    featurizer, encoder = network(seed)
    weights = encoder.state_dict() if good else useless()
    save_model(root / "data/train/typos/7/model", featurizer, SETTINGS, weights, useless())
    write_exemplars(root / "data/calibrate/typos/7")
    looks = pl.DataFrame({"step": [0, 10], "valid_score": [0.1, 0.5]})
    looks.write_csv(root / "data/train/typos/7/history.csv")
    write_frame(aliases(), root / "data/split/aliases.parquet", SPLIT_ALIASES)
    write_frame(distinct_titles(aliases()), root / "data/split/titles.parquet", TITLES)
    write_frame(occupations(), root / "data/ingest/occupations.parquet", OCCUPATIONS)
    groups = pl.DataFrame({"code": ["7"], "label": ["Craft workers"]})
    write_frame(groups, root / "data/ingest/groups.parquet", GROUPS)
    write_frame(queries("gate", 8), root / "data/typos/queries.parquet", QUERIES)
    write_frame(queries("test", 1), root / "data/split/queries.parquet", QUERIES)
    for stage in ("synonyms", "extra_words"):
        write_frame(queries("gate", 0), root / f"data/{stage}/queries.parquet", QUERIES)
    for folder, system in (("lexical", "ngram"), ("evaluate/typos/7", "typos")):
        figures = {system: {"typos": {"success_at_1": 0.5}}}
        write_json(figures, root / f"data/{folder}/metrics.json")
    return root
