"""Stage `typos`: misspelt variants of the training titles, and the Typos test.

In: `data/split/{titles,queries}.parquet`. Out: `data/typos/{variants,queries}.parquet`. Characters
are substituted and deleted at random: in training variants 20 % and 5 % of them, in queries 5 %, of
either kind (Neculoiu et al. 2016, section 4.2, point 1). A query that normalizes to a title, or a
variant to any query, is drawn again; after `max_draws` it is left out, as repeated variants are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from models.reproducibility import generator
from models.text.titles import normalize_title
from tasks.io.command import print_counts, run
from tasks.io.files import write_json
from tasks.io.frames import read_frame, write_frame
from tasks.io.schemas import QUERIES, SPLITS, TITLES, VARIANTS
from tasks.io.section import Count, Number, Section, Share, load, load_run
from tasks.io.title_readings import with_readings

FOLDER = Path("data/typos")


class TyposParams(Section):
    """Section `typos`: shares of characters for training and test, and how many are drawn."""

    NAME: ClassVar[str] = "typos"
    PARTS = ("substituted", "deleted")
    substituted: Share
    deleted: Share
    variants: Count
    test_share: Share
    max_draws: Count
    test_titles: Number  # of the test; 0: every title (the paper)
    valid_titles: Number
    gate_titles: Number


class Typos(NamedTuple):
    """Variants for training, queries, and how many titles were left out of each."""

    variants: pl.DataFrame
    queries: pl.DataFrame
    left_out: dict[str, int]


def typos(titles: pl.DataFrame, queries: pl.DataFrame, params: TyposParams, seed: int) -> Typos:
    """Misspell the titles (schema `TITLES`) of the split `train`; none is one of `queries`."""
    taxonomy = set(titles["normalized"])
    training = titles.filter(split="train")
    letters = letters_by_language(training["title"].to_list(), training["language"].to_list())
    training = training.with_columns(letters=pl.Series(letters, dtype=pl.String))
    frames, left_out, refused = [], {}, set(taxonomy)
    sizes = (params.test_titles or None, params.valid_titles, params.gate_titles)
    for split, size in zip(SPLITS, sizes, strict=True):
        rng, chosen = generator(seed, "typos", split), training
        if size is not None:
            chosen = training.sample(min(size, len(training)), seed=int(rng.integers(2**31)))
        corrupt = partial(corrupt_by_count, share=params.test_share, rng=rng)
        drawn = draw_again(chosen, corrupt, refused, params.max_draws)
        frames.append(_queries(chosen, drawn, split))
        refused |= set(frames[-1]["normalized"])  # no string is a query of two splits
        left_out[f"{split}_queries"] = drawn.count(None)
    typo_queries = pl.concat(frames)
    rates: Any = {"substituted": params.substituted, "deleted": params.deleted}
    corrupt = partial(corrupt_by_rate, **rates, rng=generator(seed, "typos", "variants"))
    misspelt, refused = list[str | None](), refused | set(queries["normalized"])
    for _ in range(params.variants):
        misspelt += draw_again(training, corrupt, refused, params.max_draws)
    named = {"title": training["title"].to_list() * params.variants, "variant": misspelt}
    draws = pl.DataFrame(named, schema={"title": pl.String, "variant": pl.String})
    # distinct as written: two variants that read alike are two draws
    kept = with_readings(draws.drop_nulls().unique(maintain_order=True), "variant")
    variants = kept.select("title", variant="cleaned", normalized="normalized")
    left_out["variants"] = len(draws) - len(variants)
    return Typos(variants, typo_queries, left_out)


def draw_again(
    training: pl.DataFrame, corrupt: Callable[..., list[str]], forbidden: set[str], max_draws: int
) -> list[str | None]:
    """Corrupt each title until it normalizes to what is not `forbidden`; None after `max_draws`."""
    titles, letters = training["title"].to_list(), training["letters"].to_list()
    drawn: dict[int, str] = {}
    for _ in range(max_draws):
        if not (pending := [i for i in range(len(titles)) if i not in drawn]):
            break
        misspelt = corrupt([titles[i] for i in pending], letters=[letters[i] for i in pending])
        for i, typo in zip(pending, misspelt, strict=True):
            if (normal := normalize_title(typo)) and normal not in forbidden:
                drawn[i] = typo
    return [drawn.get(i) for i in range(len(titles))]


def _queries(titles: pl.DataFrame, drawn: list[str | None], split: str) -> pl.DataFrame:
    misspelt = titles.with_columns(raw_title=pl.Series(drawn, dtype=pl.String))
    queries = with_readings(misspelt.drop_nulls("raw_title")).with_columns(
        query_id=pl.format("typos-{}-{}", pl.lit(split), pl.int_range(pl.len())),
        test=pl.lit("typos"),
        split=pl.lit(split),
        source=pl.lit("typo"),
    )
    return queries.select(list(QUERIES))


def letters_of(titles: Sequence[str]) -> str:
    """List the letters that are at least 0.1 % of all in `titles`; a to z if fewer than two are."""
    counts = Counter(character for character in "".join(titles) if character.isalpha())
    letters = sorted(c for c, n in counts.items() if n >= 1e-3 * counts.total())
    return "".join(letters) if len(letters) > 1 else ascii_lowercase


def letters_by_language(titles: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Give each title the letters of its language's titles."""
    spoken = defaultdict(list)
    for title, language in zip(titles, languages, strict=True):
        spoken[language].append(title)
    letters = {language: letters_of(own) for language, own in spoken.items()}
    return [letters[language] for language in languages]


def corrupt_by_rate(
    titles: Sequence[str],
    substituted: float,
    deleted: float,
    letters: str | Sequence[str],
    rng: np.random.Generator,
) -> list[str]:
    """Substitute each character with probability `substituted`, delete it with `deleted`."""
    points, owner = _flatten(titles)
    draw = rng.random(points.size)
    delete, change = draw < deleted, draw < deleted + substituted
    return _apply(points, owner, len(titles), delete, change, letters, rng)


def corrupt_by_count(
    titles: Sequence[str], share: float, letters: str | Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Change max(1, round(share · length)) characters of each title, of both kinds alike."""
    points, owner = _flatten(titles)
    lengths = np.bincount(owner, minlength=len(titles))
    changes = np.maximum(1, np.rint(share * lengths)).astype(np.int64)
    order = np.lexsort((rng.random(points.size), owner))
    rank = np.empty(points.size, np.int64)
    rank[order] = np.arange(points.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    chosen = rank < changes[owner]
    delete = chosen & (rng.random(points.size) < 0.5)
    return _apply(points, owner, len(titles), delete, chosen, letters, rng)


def _flatten(titles: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the code points of all titles in one array, and the title's number for each."""
    points = np.frombuffer("".join(titles).encode("utf-32-le", "surrogatepass"), np.uint32)
    return points, np.repeat(np.arange(len(titles)), [len(title) for title in titles])


def _apply(
    points: np.ndarray,  # this and all below: [character]
    owner: np.ndarray,
    count: int,
    delete: np.ndarray,
    change: np.ndarray,
    letters: str | Sequence[str],
    rng: np.random.Generator,
) -> list[str]:
    """Delete where `delete`, substitute where `change` and not `delete`, and cut into strings."""
    own = [letters] * count if isinstance(letters, str) else letters
    number = {alphabet: n for n, alphabet in enumerate(dict.fromkeys(own))}
    sizes = np.array([len(alphabet) for alphabet in number], np.int64)
    alphabets, of_letter = _flatten(list(number))
    which = np.array([number[alphabet] for alphabet in own], np.int64)[owner]
    # the letter that stands there already is skipped, so that a substitution changes something
    there = np.isin(which << 32 | points, of_letter << 32 | alphabets)
    drawn = rng.integers(0, sizes[which] - there)
    first = (np.cumsum(sizes) - sizes)[which]
    drawn += first + (there & (alphabets[first + drawn] >= points))
    changed = np.where(change & ~delete, alphabets[drawn], points)[~delete]
    lengths = np.bincount(owner[~delete], minlength=count)
    text = changed.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    ends = np.cumsum(lengths)
    return [text[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def main() -> None:
    """Run the stage on its files."""
    titles = read_frame(Path("data/split/titles.parquet"), TITLES)
    queries = read_frame(Path("data/split/queries.parquet"), QUERIES)
    misspelt = typos(titles, queries, load(TyposParams), load_run().seed)
    write_frame(misspelt.variants, FOLDER / "variants.parquet", VARIANTS)
    write_frame(misspelt.queries, FOLDER / "queries.parquet", QUERIES)
    made = {"variants": len(misspelt.variants), "queries": len(misspelt.queries)}
    counts = {**made, "left_out": misspelt.left_out}
    write_json(counts, FOLDER / "metrics.json")
    print_counts(counts)


if __name__ == "__main__":
    run(main)
