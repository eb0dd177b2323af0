"""Stage `calibrate`: exemplars from inputs for the network of mix K, and its calibration.

In: `data/train/K/SEED/model/`, `data/split/{titles,inputs}.parquet`, all queries, the occupations,
and `data/pairs/K/judged.parquet`. Out, in `data/calibrate/K/SEED/`: `prior.parquet`,
`exemplars.parquet`, `calibration.json` and counts.

The first mixes know no input. From `extra_words` on, mixes know unlabelled inputs: their mean
posterior is the prior of occupations (one step of expectation maximization, Dempster et al. 1977;
more steps sharpen it too much, `docs/LOG.md`), and each is an exemplar of its likeliest
occupations. Mixes with feedback know verdicts too: judged titles are exemplars of their occupation,
and count.

Confidence is fitted on the labelled inputs among the validation queries, else on held-out titles,
which are nearer to the taxonomy; without enough of either the model stays uncalibrated.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from models.network.model_files import load_model
from models.search.search import Search
from tasks.evaluation.answering import answering
from tasks.evaluation.params import EvaluateParams
from tasks.evaluation.systems import network, read_index
from tasks.io.command import print_counts, run
from tasks.io.frames import read_frame, write_frame, write_json
from tasks.io.mixes import MIXES
from tasks.io.queries import queried_strings, read_queries
from tasks.io.schemas import EXEMPLARS, JUDGED, OCCUPATIONS, PRIOR, SPLIT_INPUTS
from tasks.io.section import load
from tasks.pipeline.calibrate.fit_confidence import calibrate, calibration_queries, levels
from tasks.pipeline.calibrate.fit_prior import gather, known_inputs
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
    known = known_inputs(mix, inputs, judged, queried_strings())
    featurizer, encoder = load_model(model)
    plain = Search(index, network(featurizer, encoder, index.titles), rule)
    learned = gather(plain, known, params, rule.temperature, mix)
    write_frame(learned.prior, folder / "prior.parquet", PRIOR)
    write_frame(learned.exemplars, folder / "exemplars.parquet", EXEMPLARS)
    test, queries = calibration_queries(read_queries("valid"))
    calibration = None
    if test:
        hierarchy = levels(index, read_frame(Path("data/ingest/occupations.parquet"), OCCUPATIONS))
        search = answering(model, index, rule, folder)
        calibration = calibrate(
            search, queries, hierarchy, rule.temperature, params.max_false_rejection_rate
        )
    write_json(calibration and asdict(calibration), folder / "calibration.json")
    counts = {
        "bare_inputs": len(known.bare),
        "labelled_inputs": len(known.labelled),
        "exemplars": len(learned.exemplars),
        "calibrated_on": test or "nothing",
        "calibration_queries": len(queries),
    }
    write_json(counts, folder / "metrics.json")
    print_counts(counts)


if __name__ == "__main__":
    run(main)
