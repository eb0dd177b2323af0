"""The publishers' ESCO and O*NET files to the four Parquet files of this folder.

    python data/esco/make.py "$ROLECALL_DATA"/esco{,_languages} --onet "$ROLECALL_DATA/onet"

`titles.parquet` has ESCO's titles in every language whose `occupations_XX.csv` lies in one of the
folders, the preferred one first in its occupation; `occupations.parquet` the ISCO-08 unit group of
each concept of the English file; `groups.parquet` ISCO-08's codes and English labels;
`onet.parquet` O*NET's titles. Hidden labels are left out, and so are concepts that the English
file lacks, as no group is known for them. Equal input gives equal bytes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

HERE = Path(__file__).resolve().parent
ONET = {  # kind -> file, its column of titles
    "label": ("Occupation Data.txt", "Title"),
    "alternate": ("Alternate Titles.txt", "Alternate Title"),
    "short": ("Alternate Titles.txt", "Short Title"),
    "reported": ("Sample of Reported Titles.txt", "Reported Job Title"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the folders that the command line names and write the four files."""
    parser = argparse.ArgumentParser(description="Make data/esco from the publishers' files.")
    parser.add_argument("esco", nargs="+", type=Path, help="folders of occupations_XX.csv")
    parser.add_argument("--onet", required=True, type=Path, help="folder of O*NET's text files")
    parser.add_argument("--into", type=Path, default=HERE, help="folder to write to")
    options = parser.parse_args(arguments)
    for name, frame in make(options.esco, options.onet).items():
        frame.write_parquet(
            options.into / f"{name}.parquet", compression="zstd", compression_level=9
        )
        print(f"{name}: {frame.height} rows")


def make(esco: Sequence[Path], onet: Path) -> dict[str, pl.DataFrame]:
    """Return the four frames by the names of their files.

    Raises:
        FileNotFoundError: no folder holds English occupations or groups, or a file of O*NET lacks.
    """
    files = {path.name: path for folder in esco for path in folder.glob("*.csv")}
    for name in ("occupations_en.csv", "ISCOGroups_en.csv"):
        if name not in files:
            raise FileNotFoundError(f"{name} is in none of {', '.join(map(str, esco))}")
    english = _table(files["occupations_en.csv"])
    occupations = english.select(occupation_id="conceptUri", isco_code="iscoGroup")
    spoken = {
        name.removeprefix("occupations_").removesuffix(".csv"): _table(files[name])
        for name in sorted(files)
        if name.startswith("occupations_")
    }
    titles = pl.concat(_titles(table, language) for language, table in spoken.items())
    groups = _table(files["ISCOGroups_en.csv"])
    return {
        "titles": titles.join(occupations, on="occupation_id", how="semi", maintain_order="left"),
        "occupations": occupations.sort("occupation_id"),
        "groups": groups.select(isco_code="code", label="preferredLabel").sort("isco_code"),
        "onet": onet_titles(onet),
    }


def _titles(table: pl.DataFrame, language: str) -> pl.DataFrame:
    """Return one language's titles, sorted by occupation, otherwise in the publisher's order."""
    listed = table.select(
        occupation_id="conceptUri",
        language=pl.lit(language),
        title=pl.concat_list(
            pl.concat_list("preferredLabel"), pl.col("altLabels").fill_null("").str.split("\n")
        ),
    )
    titles = listed.explode("title").with_columns(pl.col("title").str.strip_chars())
    first = pl.int_range(pl.len()).over("occupation_id") == 0
    return (
        titles.filter(pl.col("title") != "")
        .unique(["occupation_id", "title"], keep="first", maintain_order=True)
        .with_columns(preferred=first)
        .sort("occupation_id", maintain_order=True)
    )


def onet_titles(folder: Path) -> pl.DataFrame:
    """Return O*NET's titles; one that has several kinds stands once for each."""
    occupations = _table(folder / ONET["label"][0], tabs=True)
    labels = occupations.select("O*NET-SOC Code", occupation_label="Title")
    frames = [
        _table(folder / file, tabs=True)
        .join(labels, on="O*NET-SOC Code")
        .select(
            soc_code="O*NET-SOC Code",
            occupation_label="occupation_label",
            title=column,
            kind=pl.lit(kind),
        )
        for kind, (file, column) in ONET.items()
    ]
    titles = pl.concat(frames).filter(pl.col("title") != "n/a")
    return titles.unique().sort("soc_code", "kind", "title")


def _table(path: Path, tabs: bool = False) -> pl.DataFrame:
    """Read text cells; O*NET's files have tabs and no quotes."""
    if tabs:
        return pl.read_csv(path, separator="\t", quote_char=None, infer_schema=False)
    return pl.read_csv(path, infer_schema=False)


if __name__ == "__main__":
    main()
