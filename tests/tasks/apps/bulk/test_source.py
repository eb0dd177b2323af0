"""Files of raw titles as they come: folders, columns, encodings, rows that are none."""

import gzip
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tables.workbooks import write_workbook

from tasks.apps.bulk import inspection, source
from tasks.apps.bulk.inspection import Refused, SourceError
from tasks.apps.bulk.source import TitleSource
from tasks.tables import source_files


def read(address: str, *columns: str, **more: str) -> tuple[list[dict[str, object]], list[Refused]]:
    """Return all rows of an input, and those that were refused."""
    found, refused = TitleSource.find(address, columns, **more), list[Refused]()
    parts = (part for file in found.files for part in found.parts(file, refused.append))
    return [row for part in parts for row in part.to_pylist()], refused


def written(path: Path, content: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return str(path)


def test_rows_that_are_none_are_refused_and_the_others_live(tmp_path: Path) -> None:
    """Columns may have any names, also those of the reader's own."""
    lines = b'line,title\n1,"a, b\nc"\n2\n3,x,y\n4,\xff\n5,ok\xc3\xa9\n'
    rows, refused = read(written(tmp_path / "in.csv", lines))
    assert rows == [{"line": "1", "title": "a, b\nc"}, {"line": "5", "title": "oké"}]
    no_text = "bytes that are not text; --encoding names that of the file"
    assert refused == [
        Refused("in.csv", 4, "wrong number of fields", "2"),
        Refused("in.csv", 5, "wrong number of fields", "3,x,y"),
        Refused("in.csv", 6, no_text, "4,\\udcff"),
    ]


def test_a_row_without_values_is_a_row_where_it_can_be_one(tmp_path: Path) -> None:
    """A blank line is a row of one column, and of several it is refused."""
    rows, refused = read(written(tmp_path / "in.csv", b"title\nnurse\n\ncook\n"))
    assert (rows, refused) == ([{"title": "nurse"}, {"title": ""}, {"title": "cook"}], [])
    rows, refused = read(written(tmp_path / "in.csv", b"id,title\n1,nurse\n,\n\n2,cook\n"))
    assert [row["id"] for row in rows] == ["1", "", "2"]
    assert refused == [Refused("in.csv", 4, "empty row", "")]


def test_a_folder_is_read_by_name_and_in_parts(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "ROWS", 3)
    for name in ("b", "a/x", ".hidden", "_note", "~$b"):
        written(tmp_path / f"in/{name}.csv", b"title\n" + f"{name}\n".encode() * 7)
    written(tmp_path / "in/c.csv.gz", gzip.compress(b"title\nc\n"))
    written(tmp_path / "in/readme.md", b"no table")
    found = TitleSource.find(str(tmp_path / "in"))
    assert [file.name for file in found.files] == ["a/x.csv", "b.csv", "c.csv.gz"]
    sizes = [[len(split) for split in found.parts(file, print)] for file in found.files]
    assert sizes == [[3, 3, 1], [3, 3, 1], [1]]


def test_shards_share_out_the_files(tmp_path: Path) -> None:
    """Each file is in one of them, and a shard without files is refused as a misspelt one is."""
    for number in range(5):
        written(tmp_path / f"in/{number}.csv", f"title\nnurse {number}\n".encode())
    address = str(tmp_path / "in")
    titles = [[row["title"] for row in read(address, shard=f"{shard}/3")[0]] for shard in (1, 2, 3)]
    assert titles == [["nurse 0", "nurse 3"], ["nurse 1", "nurse 4"], ["nurse 2"]]
    for shard in ("6/6", "0/3", "4/3", "1", "a/b"):
        with pytest.raises(SourceError, match=shard):
            TitleSource.find(address, shard=shard)


def test_the_partitions_and_the_file_are_columns(tmp_path: Path) -> None:
    paths = ["year=2023/country=DE/part-0.parquet", "year=2024/country=FR/part-0.parquet"]
    for path, title in zip(paths, ("nurse", "baker"), strict=True):
        (tmp_path / path).parent.mkdir(parents=True)
        pq.write_table(pa.table({"job_title": [title]}), tmp_path / path)
    assert [tuple(row.values()) for row in read(str(tmp_path), file_column="file")[0]] == [
        ("nurse", "2023", "DE", paths[0]),
        ("baker", "2024", "FR", paths[1]),
    ]


def test_what_a_reader_noticed_is_said_with_the_file(tmp_path: Path) -> None:
    lines = b'id,job_title,,\n1,"Nurse \\"night\\"",,\n2,"software\n3,baker,,\n'
    found = TitleSource.find(written(tmp_path / "in.csv", lines))
    notes = ("2 empty columns behind the last left out", "a backslash before quotes")
    assert set(found.notes) == {f"in.csv: {note}" for note in notes}
    rows, refused = read(str(tmp_path / "in.csv"))
    assert [row["job_title"] for row in rows] == ['Nurse "night"', "baker"]
    assert refused == [Refused("in.csv", 3, "broken quotes", '2,"software')]


def test_another_file_system() -> None:
    import fsspec

    fsspec.filesystem("memory").pipe_file("/board/titles.csv", b"title\nnurse\n")
    assert read("memory://board") == ([{"title": "nurse"}], [])


@pytest.mark.parametrize(
    ("files", "column", "said"),
    [
        ({}, "", "no file that ends in"),
        ({"a.csv": b""}, "", "is empty: it needs a header"),
        ({"a.csv": b"id,name\n1,2\n"}, "", "which column holds the titles"),
        ({"a.csv": b"id,name\n1,2\n"}, "title", "no column 'title'"),
        ({"a.csv": b"id,id\n1,2\n"}, "", "a column stands twice"),
        ({"a.csv": b"title\nx\n", "b.parquet": b""}, "", r"b\.parquet cannot be read"),
    ],
)
def test_what_cannot_be_meant(tmp_path, files: dict[str, bytes], column: str, said: str) -> None:
    for name, content in files.items():
        written(tmp_path / name, content)
    with pytest.raises(SourceError, match=said):
        TitleSource.find(str(tmp_path), [column] if column else [])


def test_what_is_no_column_of_titles_or_not_there(tmp_path: Path) -> None:
    written(tmp_path / "a.csv", b"title\nx\n")
    written(tmp_path / "b.csv", b"title,name\nx,y\n")
    with pytest.raises(SourceError, match=r"b\.csv has the columns title .*, name"):
        TitleSource.find(str(tmp_path))
    pq.write_table(pa.table({"title": [1, 2]}), tmp_path / "c.parquet")
    with pytest.raises(SourceError, match="is int64, titles are text"):
        TitleSource.find(str(tmp_path / "c.parquet"), ["title"])
    with pytest.raises(SourceError, match="no file or folder"):
        TitleSource.find(str(tmp_path / "no such folder"))


def test_a_readme_and_a_list_without_titles_are_left_out_by_name(tmp_path: Path) -> None:
    """The other files order their columns differently."""
    written(tmp_path / "in/README.txt", b"This folder, by Ann\nholds titles, of May.\n")
    written(tmp_path / "in/cities.csv", b"city,country\nUlm,DE\n")
    written(tmp_path / "in/empty.txt", b"")
    written(tmp_path / "in/x.csv", b"job_title,city\nnurse,Berlin\n")
    written(tmp_path / "in/y.tsv", b"city\tjob_title\nUlm\tbaker\n")
    rows = [{"job_title": "nurse", "city": "Berlin"}, {"job_title": "baker", "city": "Ulm"}]
    assert read(str(tmp_path / "in")) == (rows, [])
    found = TitleSource.find(str(tmp_path / "in"))
    assert found.settings == {"left_out": ["README.txt", "cities.csv", "empty.txt"]}
    assert found.description[1:3] == [
        "left out: README.txt, which has no column of titles (This folder, by Ann)",
        "left out: cities.csv, which has no column of titles (city, country)",
    ]


def test_text_of_any_kind_packed_or_not(tmp_path: Path) -> None:
    """The archive's two tables are read by name, and `file_column` tells which is which."""
    written(tmp_path / "in/a.jsonl.gz", gzip.compress(b'{"id": 1.0, "title": "nurse"}\n'))
    write_workbook(tmp_path / "in/b.xlsx", {"A": [["title", "id"], ["baker", 2.0]]})
    with zipfile.ZipFile(tmp_path / "in/c.zip", "w") as archive:
        archive.writestr("y.csv", "id;title\n4;pilot\n")
        archive.writestr("x.csv", "id,title\n3,cook\n5\n")
    rows, refused = read(str(tmp_path / "in"), file_column="file")
    assert [tuple(row.values()) for row in rows] == [
        ("1", "nurse", "a.jsonl.gz"),
        ("2", "baker", "b.xlsx"),
        ("3", "cook", "c.zip/x.csv"),
        ("4", "pilot", "c.zip/y.csv"),
    ]
    assert refused == [Refused("c.zip/x.csv", 3, "wrong number of fields", "5")]


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_parquet_text_of_every_type(tmp_path: Path, kind: pa.DataType) -> None:
    pq.write_table(pa.table({"Job_Title": pa.array(["nurse", None], kind)}), tmp_path / "a.parquet")
    assert read(str(tmp_path / "a.parquet"))[0] == [{"Job_Title": "nurse"}, {"Job_Title": None}]


def test_parquet_columns_without_values_take_the_type_of_other_files(tmp_path: Path) -> None:
    """Also the titles, and in another order; numbers are widened."""
    empty = {"title": pa.nulls(1), "n": pa.array([1], pa.int32()), "d": pa.nulls(1)}
    pq.write_table(pa.table(empty), tmp_path / "a.parquet")
    full = {"d": pa.array(["x"]).dictionary_encode(), "n": [2], "title": ["nurse"]}
    pq.write_table(pa.table(full), tmp_path / "b.parquet")
    assert read(str(tmp_path), "title")[0] == [
        {"title": None, "n": 1, "d": None},
        {"title": "nurse", "n": 2, "d": "x"},
    ]
    pq.write_table(pa.table({**empty, "n": ["x"]}), tmp_path / "c.parquet")
    with pytest.raises(SourceError, match=r"different types in the column 'n': .*int64, string"):
        TitleSource.find(str(tmp_path))


def test_of_several_columns_the_first_that_is_not_blank_is_asked(tmp_path: Path) -> None:
    lines = "en,de,id\nnurse,Pflegerin,1\n ,Bäcker,2\n,,3\n".encode()
    rows, _ = read(written(tmp_path / "in.csv", lines), "en", "de")
    assert [row["asked_title"] for row in rows] == ["nurse", "Bäcker", ""]
    assert list(rows[0]) == ["en", "de", "id", "asked_title"]
    found = TitleSource.find(str(tmp_path / "in.csv"), ["de", "en"])
    assert (found.column, found.settings) == ("asked_title", {"columns": ["de", "en"]})
    assert "titles in the column 'de', else 'en'" in found.description[0]
    with pytest.raises(SourceError, match="no column 'fr', but en"):
        TitleSource.find(str(tmp_path / "in.csv"), ["en", "fr"])


def test_an_encoding_that_is_named_and_one_that_is_not(tmp_path: Path) -> None:
    """Without a name nothing is taken for Windows-1252 that it is not."""
    path = written(tmp_path / "in.csv", "job_title\núčetní\nksięgowy\n".encode("cp1250"))
    rows, refused = read(path)
    assert rows == [] and [one.line for one in refused] == [2, 3]
    assert "--encoding" in refused[0].reason
    rows, refused = read(path, encoding="cp1250")
    assert [row["job_title"] for row in rows] == ["účetní", "księgowy"]
    with pytest.raises(ValueError, match="'cp125' is no encoding"):
        TitleSource.find(path, encoding="cp125")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1,nurse,Berlin\n2,baker,Ulm\n", "the first line looks like a row and no header"),
        (b"nurse\nbaker\n", "It has nurse .*If that is a row, put the columns' names above"),
        (b"id,job_title,city\n1,x\n2,y\n", "commas between names, and no row has as many"),
        (b'id,"job_title\n1,x\n', "the header has broken quotes"),
        ("\u0159,job_title\n1,x\n".encode("cp1250"), "line 1 has bytes that are not utf-8"),
    ],
    ids=["row", "title", "one column?", "quotes", "encoding"],
)
def test_a_header_that_is_none_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        TitleSource.find(written(tmp_path / "in.csv", content))


@pytest.mark.parametrize("address", ["", "zero.csv"])
def test_what_would_never_end_is_named(tmp_path: Path, address: str) -> None:
    """A pipe in a folder and a device by its name; a pipe that is no table is left."""
    os.mkfifo(tmp_path / "pipe")
    read(written(tmp_path / "a.csv", b"title\nnurse\n"))
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    with pytest.raises(SourceError, match=r"\.csv is a (pipe|device): only regular files are read"):
        read(str(tmp_path / address))


@pytest.mark.parametrize("name", ["in.csv", "in.jsonl", "in.csv.gz"])
def test_a_misspelt_column_is_found_in_the_beginning(tmp_path, monkeypatch, name: str) -> None:
    """However long a file is, so little is read of it before the run starts."""
    monkeypatch.setattr(source_files, "BLOCK", 256)
    monkeypatch.setattr(inspection, "OBJECTS", 20)
    row = b'{"title": "nurse"}\n' if "json" in name else b"nurse,1\n"
    text = row * 20_000 if "json" in name else b"title,id\n" + row * 20_000
    file = written(tmp_path / name, gzip.compress(text) if name.endswith("gz") else text)
    blocks, taken = source_files.SourceFile.blocks, list[bytes]()

    def counted(self: source_files.SourceFile) -> Iterator[bytes]:
        for block in blocks(self):
            taken.append(block)
            yield block

    monkeypatch.setattr(source_files.SourceFile, "blocks", counted)
    with pytest.raises(SourceError, match="no column 'titel'"):
        TitleSource.find(file, ["titel"])
    assert 0 < len(taken) < 20 < len(text) / 256


def test_all_members_of_the_first_objects_are_columns(tmp_path, monkeypatch) -> None:
    """Also beyond the first block, and in a last line that has no end."""
    monkeypatch.setattr(source_files, "BLOCK", 32)
    lines = [*['{"title": "nurse on the ward"}'] * 3, '{"title": "cook", "id": 4}']
    file = written(tmp_path / "in.jsonl", "\n".join(lines).encode())
    assert TitleSource.find(file).schema.names == ["title", "id"]
