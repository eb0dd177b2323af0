"""A trained network with its exemplars, as it is evaluated and registered.

Lexical baselines import `systems.py` alone, so that they depend on no encoder and no loss.
"""

from __future__ import annotations

from pathlib import Path

from models.network.kinds import load_model
from models.serving.index import AliasIndex
from models.serving.scores import Exemplars, ScoreRule
from models.serving.search import Search
from tasks.evaluation.systems import network
from tasks.io.frames import read_frame
from tasks.io.schemas import EXEMPLARS, PRIOR


def answering(model: Path, index: AliasIndex, rule: ScoreRule, calibrated: Path) -> Search:
    """Search an index with the network in a folder and what `calibrate` wrote to another."""
    learned = read_exemplars(index, rule, calibrated)
    similarities = network(*load_model(model), [*index.titles, *learned.titles])
    return Search(index, similarities, rule, learned)


def read_exemplars(index: AliasIndex, rule: ScoreRule, calibrated: Path) -> Exemplars:
    """Read what `calibrate` wrote to a folder."""
    prior = read_frame(calibrated / "prior.parquet", PRIOR)
    exemplars = read_frame(calibrated / "exemplars.parquet", EXEMPLARS)
    bias = dict(prior.select("occupation_id", "bias").iter_rows())
    return Exemplars.of(index, bias, exemplars.to_dict(as_series=False), rule.temperature)
