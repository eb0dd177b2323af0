"""The strings of training pairs: a table of them, and which occupations they share.

The table is `string_id → title, occupation_ids, role`, one row a title and role. Titles are
cleaned, so that no two rows of one role hold the same string.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tasks.io.schemas import AUXILIARY_TITLES, STRINGS

ALIAS, VALID, FEEDBACK = "alias", "valid", "feedback"
AUXILIARY, NOISY = "auxiliary_taxonomy", "noisy_auxiliary"
"""Roles; further ones are those of sources."""
NO_AUXILIARY = pl.DataFrame(schema=AUXILIARY_TITLES)
IS_CORRECT = pl.col("resolution") == "correct"


def base_strings(
    titles: pl.DataFrame, queries: pl.DataFrame, auxiliary_taxonomy: pl.DataFrame = NO_AUXILIARY
) -> pl.DataFrame:
    """Return `STRINGS` of the mix `base`: training titles, valid queries, auxiliary titles."""
    return _numbered(
        _distinct(titles.filter(split="train"), ALIAS),
        _distinct(queries.filter(split="valid").with_columns(title="cleaned"), VALID),
        _distinct(auxiliary_taxonomy.filter(noisy=False), AUXILIARY),
        _distinct(auxiliary_taxonomy.filter(noisy=True), NOISY),
    )


def with_variants(strings: pl.DataFrame, variants: pl.DataFrame, role: str) -> pl.DataFrame:
    """Add `VARIANTS` of aliases as rows of a role, with their occupations; ids stay."""
    titles = strings.filter(role=ALIAS).select("title", "occupation_ids")
    pairs = variants.select("title", "variant")
    named = pairs.join(titles, on="title", maintain_order="left", validate="m:1")
    return _numbered(strings, _distinct(named.select("occupation_ids", title="variant"), role))


def with_feedback_strings(
    strings: pl.DataFrame, resolutions: pl.DataFrame, *, corrections: bool
) -> pl.DataFrame:
    """Add the inputs of `RESOLUTIONS` with the role `feedback` and the occupation people gave."""
    known = pl.concat_list(known_occupation(corrections=corrections))
    named = resolutions.select(title="cleaned", occupation_ids=known)
    return _numbered(strings, _distinct(named, FEEDBACK))


def known_occupation(*, corrections: bool) -> pl.Expr:
    """Return the correct occupation of a row of `RESOLUTIONS`, as a mix knows it, or null."""
    return pl.when(pl.lit(corrections) | IS_CORRECT).then("occupation_id")


def ids_of(titles: pl.Series, strings: pl.DataFrame, role: str) -> np.ndarray:
    """Return the string ids of titles of one role."""
    ids = dict(strings.filter(role=role).select("title", "string_id").iter_rows())
    return np.array([ids[title] for title in titles], np.int64)


def _distinct(rows: pl.DataFrame, role: str) -> pl.DataFrame:
    return rows.group_by("title", maintain_order=True).agg(
        pl.col("occupation_ids").explode().drop_nulls().unique().sort(),
        pl.lit(role).first().alias("role"),
    )


def _numbered(*parts: pl.DataFrame) -> pl.DataFrame:
    """Give `string_id` 0, 1, 2 … in the order of the rows."""
    columns = [name for name in STRINGS if name != "string_id"]
    rows = pl.concat(part.select(columns) for part in parts)
    return rows.with_row_index("string_id").select(list(STRINGS))


class StringOccupations:
    """Which strings belong to which occupations, as arrays from which pairs are drawn.

    `ids` are the strings, rising; `string` has them by occupation, then language, one of two
    occupations twice; `start` and `size` are of each row's occupation, or its language there.
    """

    def __init__(
        self, ids: np.ndarray, occupation_ids: pl.Series, languages: pl.Series | None = None
    ) -> None:
        named = pl.Series([""] * len(ids)) if languages is None else languages
        columns = {"string": ids, "occupation": occupation_ids, "language": named}
        flat = pl.DataFrame(columns).explode("occupation").sort("occupation", "language", "string")
        code = flat["occupation"].rank("dense").to_numpy().astype(np.int64) - 1
        self.ids, self.string = ids, flat["string"].to_numpy()
        self._codes = _padded(np.searchsorted(ids, self.string), code, len(ids))
        self.start, self.size = _runs(code)
        self.language_start, self.language_size = _runs(
            flat.select(pl.struct("occupation", "language").rle_id()).to_series().to_numpy()
        )
        self._by_string = np.argsort(self.string, kind="stable")

    @classmethod
    def of(
        cls, strings: pl.DataFrame, *roles: str, languages: pl.DataFrame | None = None
    ) -> StringOccupations:
        """Take the strings of some roles with an occupation; `languages`: `title, language`."""
        has_occupation = pl.col("occupation_ids").list.len() > 0
        rows = strings.filter(pl.col("role").is_in(roles) & has_occupation)
        language = None
        if languages is not None:
            known = languages.select("title", "language")
            rows = rows.join(known, on="title", how="left", maintain_order="left", validate="m:1")
            language = rows["language"].fill_null("")
        return cls(rows["string_id"].to_numpy().astype(np.int64), rows["occupation_ids"], language)

    def others_of(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw for each row another string of its occupation, of which there is one or more."""
        return self._drawn(rows, self.start, self.size, rng)

    def others_in_language(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw as `others_of` among the strings of the row's language; -1 where it is alone."""
        several = self.language_size[rows] > 1
        drawn = np.full(rows.size, -1, np.int64)
        drawn[several] = self._drawn(rows[several], self.language_start, self.language_size, rng)
        return drawn

    def drawn_beside(
        self, strings: np.ndarray, rng: np.random.Generator, across_languages: float = 1.0
    ) -> np.ndarray:
        """Draw for each string one of an occupation that it has, itself perhaps.

        `across_languages` of the draws are from any language, the others from the string's own.
        """
        ordered = self.string[self._by_string]
        first, end = (np.searchsorted(ordered, strings, side) for side in ("left", "right"))
        row = self._by_string[rng.integers(first, end)]
        start, size = self.start[row], self.size[row]
        if across_languages < 1:
            own = rng.random(row.size) >= across_languages
            start = np.where(own, self.language_start[row], start)
            size = np.where(own, self.language_size[row], size)
        return np.asarray(self.string[start + rng.integers(0, size)])

    def share_occupation(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return a boolean per pair of string ids."""
        one = self._codes[np.searchsorted(self.ids, left)][:, :, None]
        other = self._codes[np.searchsorted(self.ids, right)][:, None, :]
        return np.asarray(((one == other) & (one >= 0)).any(axis=(1, 2)))

    def _drawn(
        self, rows: np.ndarray, start: np.ndarray, size: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        position = rng.integers(0, size[rows] - 1)
        position += position >= rows - start[rows]
        return np.asarray(self.string[start[rows] + position])


def _runs(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return start and size of each row's run of equal codes."""
    starts = np.flatnonzero(np.diff(code, prepend=-1))
    sizes = np.diff(starts, append=code.size)
    return np.repeat(starts, sizes), np.repeat(sizes, sizes)


def _padded(row: np.ndarray, code: np.ndarray, count: int) -> np.ndarray:
    """Return the codes of each row [row, most codes of a row], −1 behind them."""
    lengths, order = np.bincount(row, minlength=count), np.argsort(row, kind="stable")
    column = np.arange(row.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    codes = np.full((count, lengths.max(initial=1)), -1, np.int64)
    codes[row[order], column] = code[order]
    return codes
