"""Stage `calibrate`: exemplars from inputs for the network of mix K, and its calibration.

In: `data/train/K/SEED/model/`, `data/split/{titles,inputs,aliases}.parquet`, all queries, the
occupations, the auxiliary titles, `data/pairs/K/strings.parquet` and, for a mix that learns from
it, `data/feedback/resolutions.parquet`. Out, in `data/calibrate/K/SEED/`: `prior.parquet`,
`exemplars.parquet`, `calibration.json` and counts.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import torch

import tasks.io.schemas as schemas
from models.network.embedding import embed_titles
from models.network.kinds import load_model
from models.reproducibility import generator
from models.serving.confidence import Levels
from models.serving.search import Search
from tasks.evaluation.answering import read_exemplars
from tasks.evaluation.systems import EvaluateParams, compared, read_index
from tasks.io.command import network_options, print_counts, run
from tasks.io.files import write_json
from tasks.io.frames import read_frame, write_frame
from tasks.io.mixes import MIXES, queried_strings, read_learned, read_queries
from tasks.io.section import load, load_run
from tasks.pipeline.calibrate import confidence
from tasks.pipeline.calibrate.prior import CalibrateParams, auxiliary_titles, gather, known_inputs


def main() -> None:
    """Run the stage on its files."""
    options = network_options(__doc__, MIXES)
    mix, trained_as = options.mix, f"{options.mix}/{options.seed}"
    folder, seed = Path(f"data/calibrate/{trained_as}"), load_run().seed
    params, rule, index = load(CalibrateParams), load(EvaluateParams).rule, read_index()
    resolutions = read_learned(mix, "resolutions", schemas.RESOLUTIONS)
    inputs = read_frame(Path("data/split/inputs.parquet"), schemas.SPLIT_INPUTS)
    queried = queried_strings()
    auxiliary = auxiliary_titles(
        read_frame(Path("data/auxiliary_taxonomy/titles.parquet"), schemas.AUXILIARY_TITLES),
        params.auxiliary_titles,
        generator(seed, "calibrate", "auxiliary"),
    )
    known = known_inputs(mix, inputs, resolutions, queried)._replace(auxiliary=auxiliary)
    featurizer, encoder = load_model(Path(f"data/train/{trained_as}/model"))
    embedded = embed_titles(encoder, featurizer, index.titles)
    plain = Search(index, compared(featurizer, encoder, embedded), rule)
    prior, learned = gather(plain, known, params, rule.temperature, mix)
    write_frame(prior, folder / "prior.parquet", schemas.PRIOR)
    write_frame(learned, folder / "exemplars.parquet", schemas.EXEMPLARS)
    trained = set(read_frame(Path(f"data/pairs/{mix}/strings.parquet"), schemas.STRINGS)["title"])
    labelled = confidence.labelled_queries(read_queries("valid"), inputs, trained, queried)
    calibration = None
    if labelled.test:
        occupations = read_frame(Path("data/ingest/occupations.parquet"), schemas.OCCUPATIONS)
        aliases = read_frame(Path("data/split/aliases.parquet"), schemas.SPLIT_ALIASES)
        codes = dict(occupations.select("occupation_id", "codes").iter_rows())
        hierarchy = Levels.of([codes[name] for name in index.occupations])
        exemplars = read_exemplars(index, rule, folder)
        own = torch.cat([embedded, embed_titles(encoder, featurizer, exemplars.titles)])
        calibration = confidence.calibrate(
            Search(index, compared(featurizer, encoder, own), rule, exemplars),
            labelled.queries,
            hierarchy,
            rule.temperature,
            confidence.labels_of_titles(aliases, occupations),
            params.max_false_rejection_rate,
            confidence.made_queries(index, generator(seed, "calibrate", "made")),
        )
        calibration = replace(
            calibration,
            exact=confidence.exact_shares(aliases, inputs, index, hierarchy),
            agreement=confidence.agreement(inputs, index, hierarchy),
        )
    write_json(calibration and asdict(calibration), folder / "calibration.json")
    counts = {
        "bare_inputs": len(known.bare),
        "labelled_inputs": len(known.labelled),
        "exemplars": len(learned),
        "calibrated_on": labelled.test or "nothing",
        "calibration_queries": len(labelled.queries),
        **({"missing": labelled.missing} if labelled.missing else {}),
    }
    write_json(counts, folder / "metrics.json")
    print_counts(counts)


if __name__ == "__main__":
    run(main)
