"""The files that hold data: the path, the stage and the schema of each.

`network_files.py` has those of networks; `files_table.py` writes both into `docs/design/files.md`.
"""

from __future__ import annotations

from typing import NamedTuple

from tasks.io.frames import Schema
from tasks.io.schemas import (
    ALIASES,
    AUXILIARY_TITLES,
    EXTRA_WORDS_VARIANTS,
    FEEDBACK,
    GROUPS,
    INPUTS,
    JUDGED,
    OCCUPATIONS,
    OVERRIDES,
    QUERIES,
    REJECTED,
    REVIEWS,
    SPLIT_ALIASES,
    SPLIT_INPUTS,
    STRINGS,
    SYNONYM_VARIANTS,
    SYNONYMS,
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


DATA_FILES = (
    DataFile("external/NAME", "dvc import-url", "source files", "names are the publisher's"),
    DataFile(
        "ingest/occupations.parquet",
        "ingest",
        OCCUPATIONS,
        "`codes` is the hierarchy, broad to narrow; sorted by id",
    ),
    DataFile("ingest/groups.parquet", "ingest", GROUPS, "names of `codes`, if the source has any"),
    DataFile(
        "ingest/aliases.parquet",
        "ingest",
        ALIASES,
        "distinct; `preferred` is the label in that language, the occupation's own first; "
        "`language` is empty if unknown; sorted by (occupation_id, not preferred, title)",
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
        "distinct cleaned titles, the first language of each, every occupation that holds it, and "
        "the number of titles of the largest; the index of every system holds split `train`",
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
        "`title` is a cleaned training alias; `variant` is cleaned, `normalized` its normal form",
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
        "correct; `chosen_by` says how a review queue chose the title, `served` whether its run "
        "`answered` or `abstained`; sorted",
    ),
    DataFile(
        "{feedback,pairs/K}/overrides.parquet",
        "feedback, pairs@K",
        OVERRIDES,
        "answers that override the network; a null `occupation_id` means not a job title, and a "
        "row that is not `correct` an occupation that the title does not get",
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
)
"""From the taxonomy to the pairs, in the order of the stages."""
