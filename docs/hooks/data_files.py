"""Every file that a stage writes: its path, its stage and its schema.

`python docs/hooks/files_table.py` writes the list into `docs/design/files.md`.
"""

from __future__ import annotations

from typing import NamedTuple

from tasks.io.frames import Schema
from tasks.io.schemas import (
    ALIASES,
    AUXILIARY_TITLES,
    EXEMPLARS,
    EXTRA_WORDS_VARIANTS,
    FEEDBACK,
    INPUTS,
    JUDGED,
    OCCUPATIONS,
    OVERRIDES,
    PRIOR,
    QUERIES,
    REJECTED,
    REVIEWS,
    RUN,
    SCORES,
    SPLIT_ALIASES,
    SPLIT_INPUTS,
    STRINGS,
    SYNONYM_VARIANTS,
    SYNONYMS,
    TABLE,
    TITLES,
    VARIANTS,
    VERDICTS,
)


class DataFile(NamedTuple):
    """A file or folder that a stage writes.

    Attributes:
        path: below `data/`; K is a mix, SEED a seed of training, SYSTEM a name.
        stage: that writes it.
        holds: its columns, or text if it is no frame with a schema.
        meaning: anything that names and types of columns do not tell.
    """

    path: str
    stage: str
    holds: Schema | str
    meaning: str = ""


FILES = (
    DataFile("external/NAME", "dvc import-url", "source files", "names are the publisher's"),
    DataFile(
        "ingest/occupations.parquet",
        "ingest",
        OCCUPATIONS,
        "`codes` is the hierarchy, broad to narrow; sorted by id",
    ),
    DataFile(
        "ingest/aliases.parquet",
        "ingest",
        ALIASES,
        "distinct; the label is one of them; sorted by (occupation_id, not preferred, title)",
    ),
    DataFile(
        "ingest/inputs.parquet",
        "ingest",
        INPUTS,
        "`input_id` is the order in the file; `occupation_id` is null without a label",
    ),
    DataFile(
        "{ingest,synonyms,auxiliary_taxonomy,feedback,scored_pairs}/rejected.parquet",
        "the stage",
        REJECTED,
        "refused rows with their reason",
    ),
    DataFile(
        "split/aliases.parquet",
        "split",
        SPLIT_ALIASES,
        "`split` is `train`, `heldout_alias`, `valid` or `gate`",
    ),
    DataFile(
        "split/titles.parquet",
        "split",
        TITLES,
        "distinct cleaned titles, every occupation that holds each, and the number of titles of "
        "the largest; the index of every system holds split `train`",
    ),
    DataFile(
        "split/inputs.parquet",
        "split",
        SPLIT_INPUTS,
        "`split` is `annotations`, `gate`, `valid`, `train`, `unlabelled` or `known`: an input "
        "that normalizes to a title of the taxonomy is no test",
    ),
    DataFile(
        "{split,typos,synonyms,extra_words,feedback}/queries.parquet",
        "the stage",
        QUERIES,
        "`occupation_ids` is the gold, `occupation_size` the titles of its largest occupation, "
        "`source` a slice: `alias`, `typo`, `input`, `pair_seen`, `pair_unseen`, `two_exchanges`, "
        "`label_agrees`, `label_differs` or `feedback`",
    ),
    DataFile(
        "typos/variants.parquet",
        "typos",
        VARIANTS,
        "`title` is a cleaned training alias; `variant` is cleaned, `normalized` its other reading",
    ),
    DataFile(
        "synonyms/variants.parquet",
        "synonyms",
        SYNONYM_VARIANTS,
        "with the words that were exchanged; `kind` is `manual` or `induced`",
    ),
    DataFile(
        "synonyms/synonyms.parquet",
        "synonyms",
        SYNONYMS,
        "`occupation_id` is null for a synonym that holds everywhere",
    ),
    DataFile(
        "extra_words/variants.parquet",
        "extra_words",
        EXTRA_WORDS_VARIANTS,
        "`kind` is `mined` or `padded`; only rows of `train` are trained on",
    ),
    DataFile(
        "auxiliary_taxonomy/titles.parquet",
        "auxiliary_taxonomy",
        AUXILIARY_TITLES,
        "`noisy` marks a copy, padded or misspelt; no title of any query",
    ),
    DataFile(
        "simulate_feedback/feedback.csv",
        "simulate_feedback",
        FEEDBACK,
        "files that people put into `feedback/` are alike",
    ),
    DataFile(
        "feedback/verdicts.parquet", "feedback", VERDICTS, "verdicts, with conflicts resolved"
    ),
    DataFile(
        "{feedback,pairs/K}/judged.parquet",
        "feedback, pairs@K",
        JUDGED,
        "one row a judged prediction; `occupation_id` is the correct one, null if unknown; empty "
        "for mixes without feedback, so that the report of a mix needs no stage beyond it",
    ),
    DataFile(
        "{feedback,pairs/K}/reviews.parquet",
        "feedback, pairs@K",
        REVIEWS,
        "every row of feedback that was accepted; `occupation_id` is the one that the row calls "
        "correct; sorted",
    ),
    DataFile(
        "{feedback,pairs/K}/overrides.parquet",
        "feedback, pairs@K",
        OVERRIDES,
        "answers that override the network; a null `occupation_id` means not a job title",
    ),
    DataFile(
        "pairs/K/strings.parquet",
        "pairs@K",
        STRINGS,
        "one row a distinct title of a role, aliases first; `string_id` counts from 0; `role` is "
        "`alias`, `valid`, `auxiliary_taxonomy`, `noisy_auxiliary` or the source; `occupation_ids` "
        "is empty if unknown",
    ),
    DataFile(
        "pairs/K/pairs.parquet",
        "pairs@K",
        "`anchor_id, other_id: uint32, similar: bool, source: dictionary of string`",
        "`source` is `base`, `typo`, `synonym`, `extra_words` or `feedback`; a dissimilar pair is "
        "of source `base`, or of `feedback`: a rejection",
    ),
    DataFile(
        "training_code_hash/train.json",
        "training_code_hash",
        "path of each module behind training, hash of its code",
    ),
    DataFile(
        "reference_model/", "reference_model", "`address`, and that version's package, if any"
    ),
    DataFile(
        "teacher/{titles,words}.parquet",
        "teacher",
        "`title` or `word: String, vector: Array(Float16), nearest: Array(UInt32)`",
        "distinct, sorted, of unit norm; `nearest` are rows of the nearest aliases; empty without "
        "a teacher",
    ),
    DataFile(
        "train/K/SEED/model/",
        "train@K-SEED",
        "`featurizer.json, encoder.json, weights.safetensors, initial.safetensors`",
    ),
    DataFile(
        "train/K/SEED/history.csv",
        "train@K-SEED",
        "`step, loss, loss_similar, loss_dissimilar, valid_score`",
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
        "cleaned inputs as further aliases of an occupation",
    ),
    DataFile(
        "calibrate/K/SEED/calibration.json",
        "calibrate@K-SEED",
        "temperature, threshold, and for each level offsets and slopes",
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
"""Every file between stages, in the order of the stages."""
