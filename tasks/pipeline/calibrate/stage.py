"""Stage `calibrate`: exemplars from inputs for the network of mix K, and its calibration.

In: `data/train/K/SEED/model/`, `data/split/{titles,inputs,aliases}.parquet`, all queries, the
occupations, the auxiliary titles, and `data/pairs/K/{judged,strings}.parquet`. Out, in
`data/calibrate/K/SEED/`: `prior.parquet`, `exemplars.parquet`, `calibration.json` and counts.

The first mixes know no input. From `extra_words` on, mixes know unlabelled inputs: their mean
posterior is the prior of occupations (one step of expectation maximization, Dempster et al. 1977;
more steps sharpen it too much, `docs/LOG.md`), and each is an exemplar of its likeliest
occupations. Mixes with feedback know verdicts too: judged titles are exemplars of their occupation,
and count. Titles of the second taxonomy can tell of the prior in every mix.

Confidence is fitted on the labelled inputs that nothing was trained on and no test queries, each
answered without its own exemplar, else on held-out titles, which are nearer to the taxonomy;
without enough of either the model stays uncalibrated. Lone head words and initials of titles teach
what is vague.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path

import torch

from models.network.embedding import embed_titles
from models.network.model_files import load_model
from models.reproducibility.seeding import generator
from models.search.search import Search
from tasks.evaluation.answering import read_exemplars
from tasks.evaluation.params import EvaluateParams
from tasks.evaluation.systems import compared, read_index
from tasks.io.command import print_counts, run
from tasks.io.frames import read_frame, write_frame, write_json
from tasks.io.mixes import MIXES
from tasks.io.queries import queried_strings, read_queries
from tasks.io.schemas import (
    AUXILIARY_TITLES,
    EXEMPLARS,
    JUDGED,
    OCCUPATIONS,
    PRIOR,
    SPLIT_ALIASES,
    SPLIT_INPUTS,
    STRINGS,
)
from tasks.io.section import load, load_run
from tasks.pipeline.calibrate.fit_confidence import calibrate, levels
from tasks.pipeline.calibrate.fit_prior import auxiliary_titles, gather, known_inputs
from tasks.pipeline.calibrate.labels import (
    agreement,
    exact_shares,
    labelled_queries,
    labels_of_titles,
    made_queries,
)
from tasks.pipeline.calibrate.params import CalibrateParams


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mix", required=True, choices=MIXES)
    parser.add_argument("--seed", type=int, required=True, help="that it was trained with")
    options = parser.parse_args()
    mix, place = options.mix, f"{options.mix}/{options.seed}"
    folder, model = Path(f"data/calibrate/{place}"), Path(f"data/train/{place}/model")
    params, rule, index = load(CalibrateParams), load(EvaluateParams).rule, read_index()
    judged = read_frame(Path(f"data/pairs/{mix}/judged.parquet"), JUDGED)
    inputs = read_frame(Path("data/split/inputs.parquet"), SPLIT_INPUTS)
    queried = queried_strings()
    auxiliary = read_frame(Path("data/auxiliary_taxonomy/titles.parquet"), AUXILIARY_TITLES)
    drawn = auxiliary_titles(
        auxiliary, params.auxiliary_titles, generator(load_run().seed, "calibrate", "auxiliary")
    )
    known = known_inputs(mix, inputs, judged, queried)._replace(auxiliary=drawn)
    featurizer, encoder = load_model(model)
    embedded = embed_titles(encoder, featurizer, index.titles)
    plain = Search(index, compared(featurizer, encoder, embedded), rule)
    learned = gather(plain, known, params, rule.temperature, mix)
    write_frame(learned.prior, folder / "prior.parquet", PRIOR)
    write_frame(learned.exemplars, folder / "exemplars.parquet", EXEMPLARS)
    trained = set(read_frame(Path(f"data/pairs/{mix}/strings.parquet"), STRINGS)["title"])
    labelled = labelled_queries(read_queries("valid"), inputs, trained, queried)
    calibration = None
    if labelled.test:
        occupations = read_frame(Path("data/ingest/occupations.parquet"), OCCUPATIONS)
        aliases = read_frame(Path("data/split/aliases.parquet"), SPLIT_ALIASES)
        hierarchy = levels(index, occupations)
        exemplars = read_exemplars(index, rule, folder)
        own = torch.cat([embedded, embed_titles(encoder, featurizer, exemplars.titles)])
        calibration = calibrate(
            Search(index, compared(featurizer, encoder, own), rule, exemplars),
            labelled.queries,
            hierarchy,
            rule.temperature,
            labels_of_titles(aliases, occupations),
            params.max_false_rejection_rate,
            made_queries(index, generator(load_run().seed, "calibrate", "made")),
        )
        calibration = replace(
            calibration,
            exact=exact_shares(aliases, inputs, index, hierarchy),
            agreement=agreement(inputs, index, hierarchy),
        )
    write_json(calibration and asdict(calibration), folder / "calibration.json")
    counts = {
        "bare_inputs": len(known.bare),
        "labelled_inputs": len(known.labelled),
        "exemplars": len(learned.exemplars),
        "calibrated_on": labelled.test or "nothing",
        "calibration_queries": len(labelled.queries),
        **({"missing": labelled.missing} if labelled.missing else {}),
    }
    write_json(counts, folder / "metrics.json")
    print_counts(counts)


if __name__ == "__main__":
    run(main)
