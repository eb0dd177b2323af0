"""Every name that stands in `results/*.csv`, with its meaning; `docs/RESULTS.md` lists them.

A test of a slice is written `TEST/SLICE` and is named by its two parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

NAMES: dict[str, dict[str, str]] = {
    "experiment": {
        "pipeline": "every system on every test of a data set, and the encoder's two modes",
        "table3": "Table 3 of Neculoiu et al. 2016: every stage on every test, and what each gains",
        "contrastive": "penalties and margins of the loss, sampling ratios, typo rates: stage 1 "
        "trained anew, on validation queries",
        "feedback": "variants of stage 4, trained anew: what helps, what hurts, what is mended",
        "feedback_valid": "the same on validation queries, on which choices are made",
        "reference": "the lexical baselines on the publishers' whole files, without our splits",
        "speed": "titles and pairs per second and peak memory, beside the obvious way to do it",
        "sources": "titles and inputs that each rule of the sources takes or leaves",
        "augmentation": "seconds and peak memory of making the data of stages 2 and 3",
        "dropout": "recurrent dropout: on the weights, on the state at every step, or none",
    },
    "dataset": {
        "sample": "the taxonomy and raw inputs in `data/sample/`, made by hand for this project",
        "esco": "ESCO's occupations, English; inputs are vacancy titles labelled with them",
        "onet": "O*NET's occupations with alternate and reported titles; no inputs",
    },
    "system": {
        "ngram": "the n-gram matcher of Neculoiu et al. 2016",
        "tfidf": "TF-IDF over character 2-5-grams within words, cosine",
        "untrained": "the network at step 0",
        "0": "the network trained on the base taxonomy's pairs",
        "1": "the same with typo pairs",
        "2": "... and synonym pairs",
        "3": "... and extra-words pairs",
        "4": "... and people's verdicts on the answers of 3",
        "4c": "... and their corrections",
        "gpu": "the network of stage 1 trained on a GPU, outside the pipeline",
        "fast": "trained for the given number of steps; strings at their true length",
        "paper": "the same steps in the paper's window of 100 characters, averaged over all of it",
        "none": "no recurrent dropout",
        "weights": "hidden-to-hidden weights dropped once a batch: what `models/recurrent.py` does",
        "each_step": "a fresh mask on the hidden state at every step",
        "pairs": "dissimilar pairs of the pairs file; weights as in the paper's sum over pairs",
        "hardest": "dissimilar pairs by hard mining in the batch; weights 1/4 and 1",
        "printed": "penalty E² below the margin, as equation 13 of Neculoiu et al. 2016 stands",
        "flipped": "penalty E² above the margin, the usual reading",
        "hinge": "penalty (E - margin)² above the margin",
        "equal_strings": "a step encodes as many strings as at any other ratio",
        "equal_similar": "a step has as many similar pairs as at 1 : 4",
        "right_only": "stage 4 of confirmed answers alone",
        "wrong_only": "stage 4 of rejected answers alone",
        "corrections_only": "stage 4 of corrections alone",
        "no_rejections": "4c without the dissimilar pairs of rejected answers",
        "share_05": "4c with 5 % feedback among the similar pairs",
        "share_50": "4c with 50 % feedback among the similar pairs",
        "outranked_kept": "4c, with the mined pairs that verdicts call wrong",
        "diluted": "3, with base pairs repeated where 4c has feedback",
        "noisy_10": "4c with 10 % of the verdicts flipped, 10 % of the other corrections random",
        "noisy_30": "the same with 30 %",
        "continued": "3, trained on with its own pairs for a third of the steps",
        "averaged": "the mean of the weights of 3 and of `fine_tuned`",
        "fine_tuned_kept": "`fine_tuned` with the mined pairs that verdicts call wrong",
        "averaged_kept": "the mean of the weights of 3 and of `fine_tuned_kept`",
        "fine_tuned_4": "3, trained on with the pairs of 4 for a third of the steps",
        "averaged_4": "the mean of the weights of 3 and of `fine_tuned_4`",
        "fine_tuned": "3, trained on with the pairs of 4c for a third of the steps",
        "fine_tuned_feedback_only": "the same with pairs of feedback alone",
        "union": "4c, and as many pairs of two judged inputs of one occupation as of feedback",
        "synonyms": "the stage of that name",
        "extra_words": "the stage of that name",
        "rolecall": "this project's code",
        "plain_lstm": "`torch.nn.LSTM` and a DataLoader over padded strings, layers of equal size",
        "onnx": "the exported network in onnxruntime",
        "matmul": "product of two 1024 x 1024 matrices: the peak of this machine",
        "matmul_step": "the product that one step of the recurrence needs for a batch",
        "write_only": "one block of pairs written again and again: the speed of the file format",
        "python_loop": "pairs drawn one by one in Python",
        "polars_cross_join": "all titles joined with all in Polars, dissimilar pairs sampled",
    },
    "test": {
        "typos": "titles of the taxonomy with 5 % of their characters changed",
        "heldout_alias": "an alias kept out of training and index",
        "composition": "titles put together from synonyms, none of them in training",
        "extra_words": "raw inputs that hold a title of the taxonomy among other words",
        "annotations": "labelled raw inputs that nothing was trained on",
        "vacancy_titles": "all 15,463 labelled vacancy titles against the whole taxonomy",
        "size:1": "slice: the occupation has one title",
        "size:2-5": "slice: the occupation has 2 to 5 titles",
        "size:6-15": "slice: the occupation has 6 to 15 titles",
        "size:16+": "slice: the occupation has 16 titles or more",
        "length:1-15": "slice: the query has up to 15 characters",
        "length:16-30": "slice: the query has 16 to 30 characters",
        "length:31+": "slice: the query has 31 characters or more",
        "training": "updating the network on the sample's pairs",
        "encoding": "titles to embeddings, nothing learned",
        "matmul": "matrix product in float32",
        "valid": "validation queries: held-out aliases and labelled inputs",
        "part:valid": "the validation queries of that test, not those that tables of tests report",
        "similar_pairs": "pairs of one occupation, from the pairs file",
        "dissimilar_pairs": "pairs without a common occupation, drawn at random as in the paper",
        "hardest_pairs": "the closest strings of other occupations among those of 128 pairs",
        "induction": "candidates, pairs of what is left of two titles, and what they failed on",
        "contexts:1": "... accepted by the paper's rules",
        "contexts:2": "... with two different shared parts or more, the stricter row",
        "generated": "titles made by putting a synonym for a part of a title",
        "induced": "slice: by an induced synonym",
        "manual": "slice: by a synonym of the manual set",
        "mined": "raw inputs in which a title of the taxonomy stands among other words",
        "induction_x1": "synonyms induced from the data set's training titles",
        "induction_x4": "... and from that many copies, each with words and occupations of its own",
        "induction_x16": "... and from that many",
        "making_synonyms": "the stage `synonyms`: induction, exchanging, holding out; rows: titles",
        "making_extra_words": "the stage `extra_words`; rows: inputs that may be mined",
        "making_pairs": "pairs of the base taxonomy and of synonyms, written; rows: pairs",
        "corrected": "raw inputs whose answer people called wrong and corrected: training strings",
        "reworded": "the same in other words, no training strings; gold as corrected",
        "same_occupations": "slice: inputs of occupations that people corrected to",
        "valid_after_steps": "validation queries, after the same number of steps",
        "valid_after_seconds": "validation queries, after the same seconds of training",
        "pairs_all": "every similar pair of the taxonomy once, and four dissimilar ones to each",
    },
    "metric": {
        "success_at_1": "share of queries whose best occupation is right; ties by expectation",
        "success_at_5": "the same for the best five",
        "success_at_10": "the same for the best ten",
        "mrr": "mean reciprocal rank of the best right occupation",
        "valid_success_at_1": "success_at_1 of the validation queries after that many steps",
        "loss": "mean since the row before; its two weighted terms:",
        "loss_similar": "... of similar pairs",
        "loss_dissimilar": "... of dissimilar pairs",
        "mean_similarity": "cosine of the two embeddings of a pair after training",
        "share_with_gradient": "share of the pairs whose penalty changes with their similarity",
        "titles_per_step": "distinct strings that an update encodes",
        "batch_pairs": "similar pairs of an update",
        "success_at_1_deviation": "standard deviation over seeds, `n` of them",
        "mrr_deviation": "the same of mrr",
        "gain_success_at_1": "difference of the two models of `system`, paired by query",
        "gain_mrr": "the same of mrr",
        "errors_removed": "gain_success_at_1 as a share of the second model's errors",
        "non_inferior": "1 if the first model is not worse by 0.01 or more, Holm over the tests",
        "holm_low_success_at_1": "lower end of the gain at the level that Holm's step-down gives",
        "gain_over_3": "success_at_1 less that of model 3, paired by query",
        "fix_rate": "share answered right now; of the test annotations, of what model 3 had wrong",
        "side_effects": "share answered wrong now of what model 3 had right",
        "titles_per_second": "distinct strings through the network; encoding starts from text",
        "pairs_per_second": "rows written to the pairs file",
        "mib_per_second": "the same in MiB of plain columns, 9.1 bytes a row",
        "peak_mib": "largest resident size of a process that does nothing else",
        "seconds": "wall time",
        "candidates": "pairs of complements",
        "isolated": "... of which a part is a title by itself",
        "special_characters": "... has special characters",
        "too_long": "... has more than two words",
        "too_few_contexts": "... has fewer shared parts than asked for",
        "accepted": "pairs of complements that are left",
        "titles": "distinct titles kept; of composition, those held out",
        "generated": "distinct titles made",
        "is_a_title": "... of which the taxonomy, or for inputs an occupation, has it",
        "is_a_query": "... an earlier test asks for it",
        "kept": "... left",
        "pair_seen": "queries whose synonym pair training saw elsewhere",
        "pair_unseen": "... did not see",
        "inputs": "raw inputs that may be mined",
        "distinct": "... distinct, normalized",
        "hold_a_title": "... that hold a title on word boundaries",
        "hold_it_strictly": "... and are not that title itself",
        "agrees": "... of which the n-gram matcher finds an occupation of that title",
        "disagrees": "... finds another",
        "ambiguous": "... finds one of several at a tie",
        "is_an_earlier_query": "... left out, an earlier test asks for it",
        "is_an_earlier_variant": "... left out, an earlier stage has made it",
        "rows": "how many a measurement is about",
        "microseconds_per_row": "wall time divided by them",
        "steps": "updates of the network",
        "gigaflop_per_second": "useful floating point operations: matrix products of the recurrent "
        "layers over true lengths, training counted three times",
    },
}
WITH_VALUE = {
    "margin": "the loss's margin on cosine similarity",
    "ratio": "dissimilar pairs to a similar one",
    "substituted": "share of characters substituted in training typos",
    "deleted": "share of characters deleted in training typos",
}
"""Parts of a system's name that end in a number."""
SIZE = "pairs_<size>m"
SIZE_MEANING = "that many million pairs made from the data set's titles"


def table() -> Iterator[tuple[str, str, str]]:
    """(column, name, meaning) of every name, in the order above."""
    for column, names in NAMES.items():
        for name, meaning in names.items():
            yield column, name, meaning
    for name, meaning in WITH_VALUE.items():
        yield "system", f"{name}:<value>", meaning
    yield "system", "<a>-<b>", "model a compared with model b"
    yield "test", "step_<number>", "after that many updates"
    yield "test", SIZE, SIZE_MEANING
    yield "test", "source:<name>", "slice: the query comes from that source"


def unnamed(rows: Iterable[dict[str, str]]) -> set[tuple[str, str]]:
    """(column, name) of what stands in `rows` without a meaning."""
    found = {(column, part) for row in rows for column in NAMES for part in row[column].split("/")}
    return {(column, name) for column, name in found if not _known(column, name)}


def _known(column: str, name: str) -> bool:
    if column == "test" and name.startswith("source:"):
        return True
    if column == "test" and name.startswith("pairs_") and name.endswith("m"):
        return name.removeprefix("pairs_").removesuffix("m").replace(".", "", 1).isdigit()
    if column == "test" and name.startswith("step_"):
        return name.removeprefix("step_").isdigit()
    if column == "system" and name.partition(":")[0] in WITH_VALUE:
        return name.partition(":")[2].replace(".", "", 1).isdigit()
    if column == "system" and "-" in name:
        return all(model in NAMES[column] for model in name.split("-"))
    return name in NAMES[column]
