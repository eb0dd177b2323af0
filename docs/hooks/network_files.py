"""The files of networks, their figures and the reports: as in `data_files.py`."""

from __future__ import annotations

from data_files import DataFile

from tasks.io.schemas import EXEMPLARS, PRIOR, RUN, SCORES, TABLE

NETWORK_FILES = (
    DataFile(
        "training_code_hash/train.json",
        "training_code_hash",
        "path of each module behind training, hash of its code",
    ),
    DataFile(
        "reference_model/", "reference_model", "`address`, and that version's package, if any"
    ),
    DataFile(
        "train/K/SEED/model/",
        "train@K-SEED, train_feedback@K-SEED",
        "`featurizer.json, encoder.json, weights.safetensors, initial.safetensors`",
    ),
    DataFile(
        "train/K/SEED/history.csv",
        "train@K-SEED, train_feedback@K-SEED",
        "`step, loss, loss_similar, loss_dissimilar, valid_score`",
        "`valid_score` is NaN after steps on people's verdicts, which it does not judge",
    ),
    DataFile(
        "calibrate/K/SEED/prior.parquet",
        "calibrate@K-SEED",
        PRIOR,
        "the share of each occupation among inputs, and the bias that it adds to the score",
    ),
    DataFile(
        "calibrate/K/SEED/exemplars.parquet",
        "calibrate@K-SEED",
        EXEMPLARS,
        "cleaned inputs as further aliases of an occupation; `source` is `review`, `label` or "
        "`model`",
    ),
    DataFile(
        "calibrate/K/SEED/calibration.json",
        "calibrate@K-SEED",
        "temperature, threshold, and for each level offsets, slopes, weights of what the words "
        "say, and how often exact titles and pairs of labels are right",
        "null: not calibrated",
    ),
    DataFile(
        "{evaluate/K/SEED,lexical}/run.parquet",
        "evaluate@K-SEED, lexical",
        RUN,
        "`title` is the best alias; systems are K and `untrained`, or `ngram` and `tfidf`",
    ),
    DataFile(
        "{evaluate/K/SEED,lexical}/scores.parquet",
        "evaluate@K-SEED, lexical",
        SCORES,
        "one row for each system, test and query; ties by expectation",
    ),
    DataFile("{evaluate/K/SEED,lexical}/table.csv", "evaluate@K-SEED, lexical", TABLE),
    DataFile(
        "{evaluate/K/SEED,lexical}/metrics.json",
        "evaluate@K-SEED, lexical",
        "`{system: {test: {metric: value}}}`",
    ),
    DataFile("table3/table.csv", "table3", "`table.csv` of all systems, with `seed`"),
    DataFile("table3/summary.csv", "table3", "mean, standard deviation and range over the seeds"),
    DataFile("table3/effects.csv", "table3", "the gain of each mix over the one before, paired"),
    DataFile("report/report.html", "report", "the report, self-contained"),
    DataFile(
        "report/metrics.json",
        "report",
        "`{test: success@1}` of the network of `mix`",
        "the one metrics file of DVC, kept by git",
    ),
    DataFile(
        "gate/report.html",
        "the flow, after the gate",
        "the report with the gate's decision above it",
        "no output of a stage",
    ),
    DataFile(
        "scored_pairs/pairs.parquet",
        "scored_pairs",
        "`dataset, split, left, right: String, score: Float64`",
        "`score` has the publisher's range",
    ),
    DataFile(
        "scored_pairs/paraphrases.parquet", "scored_pairs", "`split, head, paraphrase: String`"
    ),
    DataFile(
        "similarity_code/SYSTEM.json",
        "similarity_code@SYSTEM",
        "as `training_code_hash/train.json`",
    ),
    DataFile(
        "similarity_train/SYSTEM/SEED/",
        "similarity_train@SYSTEM",
        "`model/`, `history.csv`, as train",
    ),
    DataFile(
        "similarity/",
        "similarity",
        "`table.csv`, `differences.csv`, `similarity.md`, `metrics.json`",
    ),
)
"""From training to the similarity track, in the order of the stages."""
