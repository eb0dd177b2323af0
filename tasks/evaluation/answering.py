"""A trained network with its evidence, as it is evaluated and registered.

Lexical baselines import `systems.py` alone, so that they depend on no encoder and no loss.
"""

from __future__ import annotations

from pathlib import Path

from models.network.model_files import load_model
from models.ranking.evidence import Evidence
from models.ranking.index import AliasIndex
from models.ranking.occupation_scores import ScoreRule
from models.ranking.search import Search
from tasks.evaluation.systems import network
from tasks.io.frames import read_frame
from tasks.io.schemas import EXEMPLARS, PRIOR


def read_evidence(folder: Path, index: AliasIndex, temperature: float) -> Evidence:
    """Read the priors and exemplars of the stage `calibrate`, for the occupations of an index."""
    prior = read_frame(folder / "prior.parquet", PRIOR)
    exemplars = read_frame(folder / "exemplars.parquet", EXEMPLARS)
    bias = dict(prior.select("occupation_id", "bias").iter_rows())
    return Evidence.of(index, bias, exemplars.to_dict(as_series=False), temperature)


def answering(model: Path, index: AliasIndex, rule: ScoreRule, evidence: Path) -> Search:
    """Search an index with the network in a folder and the evidence in another."""
    learned = read_evidence(evidence, index, rule.temperature)
    similarities = network(*load_model(model), [*index.titles, *learned.titles])
    return Search(index, similarities, rule, learned)
