"""The stage as a whole: files in a working directory, files out."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from params_of import inputs_params
from pydantic import ValidationError

from tasks.io.command import ROOT
from tasks.io.frames import read_frame
from tasks.io.schemas import ALIASES, GROUPS, INPUTS, OCCUPATIONS, REJECTED
from tasks.pipeline.ingest.stage import IngestParams, ingest, main, read_inputs, require_usable
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

TITLES = "id,title\n1,cook\n2,nurse\n1,chef\n"
LONG = "👩🏽‍🍳" * 2_500  # 10,000 code points
AS_FOUND = {"delimiter": "", "encoding": ""}
OUTPUTS = ("occupations", "groups", "aliases", "inputs", "rejected")


def section(**changes: Any) -> dict[str, Any]:
    """Section `ingest` of a table of titles and no inputs, in a folder beside `params.yaml`."""
    columns = {"occupation_id": "id", "title": "title"}
    taxonomy = {"reader": "table", "files": {"titles": "titles.csv"}, "languages": []}
    taxonomy |= {"columns": columns}
    return {
        "folder": "outside",
        "taxonomy": taxonomy | AS_FOUND,
        "inputs": {"reader": "none", "file": "", "columns": {}} | AS_FOUND,
        "max_rejected_share": 0.01,
    } | changes


def run_in(root: Path, titles: str, share: float = 0.01, inputs: str | None = None) -> None:
    """Prepare a working directory with the outside files and the section of this stage alone."""
    changes: dict[str, Any] = {"max_rejected_share": share}
    (root / "outside").mkdir(parents=True, exist_ok=True)
    (root / "outside/titles.csv").write_text(titles, encoding="utf-8")
    if inputs is not None:
        changes["inputs"] = {"reader": "lines", "file": "inputs.txt", "columns": {}} | AS_FOUND
        (root / "outside/inputs.txt").write_text(inputs, encoding="utf-8")
    params = yaml.safe_dump({"ingest": section(**changes)})
    (root / "params.yaml").write_text(params, encoding="utf-8")


def rejected() -> list[tuple[int, str]]:
    return read_frame(Path("data/ingest/rejected.parquet"), REJECTED)["line", "reason"].rows()


def test_the_five_frames_and_their_counts(here) -> None:
    run_in(here, TITLES + "1,CHEF\n", inputs=f"kok\n\n{LONG}\n")
    main()
    folder = Path("data/ingest")
    assert read_frame(folder / "occupations.parquet", OCCUPATIONS).height == 2
    aliases = [("1", "cook", "", True), ("1", "chef", "", False), ("2", "nurse", "", True)]
    assert read_frame(folder / "aliases.parquet", ALIASES).rows() == aliases
    assert read_frame(folder / "groups.parquet", GROUPS).is_empty()
    inputs = read_frame(folder / "inputs.parquet", INPUTS)
    assert inputs.rows() == [(0, "kok", None), (1, LONG, None)]
    assert rejected() == [(5, "duplicate title"), (2, "empty row")]
    counts = {"occupations": 2, "aliases": 3, "inputs": 2, "inputs_labelled": 0}
    counts |= {"rows_read": {"outside/inputs.txt": 3, "outside/titles.csv": 4}}
    counts |= {"rejected": {"duplicate title": 1, "empty row": 1}, "rejected_errors": 0}
    assert json.loads((folder / "metrics.json").read_text(encoding="utf-8")) == counts


def test_too_many_errors_fail_after_they_were_written(here) -> None:
    """Five rows, one of them broken: a share of 0.2 is not above 0.2, but above 0.19."""
    run_in(here, TITLES + '1,"broken\n2,sister\n', share=0.2)
    main()
    run_in(here, TITLES + '1,"broken\n2,sister\n', share=0.19)
    for name in OUTPUTS:
        Path(f"data/ingest/{name}.parquet").unlink()
    with pytest.raises(IngestError, match=r"1 of 5 rows.*= 0\.19.*'broken quotes': 1.*rejected\.p"):
        main()
    assert rejected() == [(5, "broken quotes")]
    assert not Path("data/ingest/occupations.parquet").exists()


def test_notices_are_no_errors(here) -> None:
    run_in(here, TITLES + "\n1,Cook\n1,chef\n" * 20, share=0.0)
    main()
    assert {reason for _, reason in rejected()} == {"empty row", "duplicate title", "duplicate row"}


@pytest.mark.parametrize(
    ("titles", "message"),
    [
        ("id,title\n", r"is empty: .*\. outside/titles\.csv has no rows, a header at most\. Add"),
        ("id,title\n1,cook\n1,chef\n", "one occupation only: there is nothing to tell apart"),
        (
            "id,title\n1,\n2,\n",
            r"is empty: .* has 2 rows, refused: {'empty title': 2}\. Add .*taxonomy\.files",
        ),
        ("id,title\n\xe4,\xfe\n", "is empty: .*'bytes that are not text': 1.*byte in line 2"),
    ],
)
def test_nothing_to_tell_apart_is_an_error(here, titles: str, message: str) -> None:
    """Blame the taxonomy, although all labelled inputs are refused for its sake."""
    run_in(here, titles, inputs="cook\n")
    (here / "outside/titles.csv").write_bytes(titles.encode("latin-1"))
    with pytest.raises(IngestError, match=message):
        main()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("", r"outside/inputs\.txt has no rows, .*\. Name another file in ingest\.inputs\.file"),
        ("\n \n", r"outside/inputs\.txt has 2 rows, refused: {'empty row': 2}\. .*reader: none"),
    ],
)
def test_inputs_of_which_none_can_be_used_are_an_error(here, inputs: str, message: str) -> None:
    run_in(here, TITLES, inputs=inputs)
    with pytest.raises(IngestError, match=f"there are no raw inputs. {message}"):
        main()


def test_the_log_says_how_each_file_was_read(here, capsys) -> None:
    run_in(here, TITLES, inputs="cook\n")
    (here / "outside/titles.csv").write_bytes("id;title\n1;Köchin\n2;nurse\n".encode("latin-1"))
    main()
    assert capsys.readouterr().out == (
        "outside/titles.csv: Windows-1252 (Latin-1), semicolons between fields\n"
        "outside/inputs.txt: UTF-8\n"
    )


@pytest.mark.thorough
def test_same_bytes_in_another_folder_process_and_number_of_threads(tmp_path) -> None:
    """Also with another hash seed, time zone and locale."""
    digests = []
    for number in ("1", "2"):
        folder = tmp_path / number
        run_in(folder, TITLES + "9,Ö\n1,\n" + "".join(f"{n % 7},t{n}\n" for n in range(999)))
        more = {"PYTHONHASHSEED": number, "POLARS_MAX_THREADS": number, "LC_ALL": "C"}
        more |= {"TZ": f"UTC-{number}", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "tasks.pipeline.ingest.stage"]
        subprocess.run(command, cwd=folder, env=os.environ | more, check=True)
        files = sorted((folder / "data/ingest").iterdir())
        digests.append({f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files})
    assert len(digests[0]) == 6
    assert digests[0] == digests[1]


def test_no_frame_holds_a_folder_of_this_machine(tmp_path) -> None:
    (tmp_path / "titles.csv").write_text(TITLES + "1,\n", encoding="utf-8")
    params = IngestParams.model_validate(section(folder=str(tmp_path), max_rejected_share=0.25))
    ingested = ingest(params)
    assert ingested.rejected.frame()["file"].to_list() == ["titles.csv"]
    assert ingested.rejected.errors == 1
    require_usable(ingested, params)


@pytest.mark.parametrize("split", ["taxonomy", "inputs"])
def test_every_file_is_in_the_folder_that_dvc_watches(split: str) -> None:
    params = section()
    file = "sub/../../titles.csv"
    params[split] |= {"files": {"titles": file}} if split == "taxonomy" else {"file": file}
    with pytest.raises(ValidationError, match=r"titles\.csv is not below ingest\.folder"):
        IngestParams.model_validate(params)


MAP = {"raw_title": "text", "occupation_id": "id"}


def read(reader: str, file: object, columns: dict[str, str]):
    rejected = RejectedRows()
    params = inputs_params(reader, str(file), columns=columns)
    return read_inputs(params, {"cook", "nurse"}, rejected), rejected


def test_table(tmp_path) -> None:
    path = tmp_path / "i.csv"
    rows = "nurse, RN (urgent!) \n,???\ncook,chef\ncook,chef\npilot,pilot\ncook, \n"
    path.write_text(f"id,text\n{rows}", encoding="utf-8")
    frame, rejected = read("table", path, MAP)
    taken = [(" RN (urgent!) ", "nurse"), ("???", None), ("chef", "cook"), ("chef", "cook")]
    assert frame.rows() == [(number, *row) for number, row in enumerate(taken)]
    assert rejected.refused == [
        ("i.csv", 6, "unknown occupation", "pilot,pilot"),
        ("i.csv", 7, "empty raw_title", "cook, "),
    ]


@pytest.mark.parametrize(
    ("known", "taken"), [({"2231"}, "2231"), ({"2231", "2231.0"}, "2231.0"), ({"223"}, None)]
)
def test_ids_that_are_whole_floats_are_integers(tmp_path, known: set[str], taken) -> None:
    (tmp_path / "i.csv").write_text("id,text\n2231.0,nurse\n", encoding="utf-8")
    params = inputs_params("table", str(tmp_path / "i.csv"), columns=MAP)
    rows = read_inputs(params, known, RejectedRows())["occupation_id"].to_list()
    assert rows == ([taken] if taken else [])


def test_several_files_in_their_order(tmp_path) -> None:
    """Detect the form of each by itself."""
    (tmp_path / "a.csv").write_text("text,id\nchef,cook\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("id;text\nnurse;RN\n", encoding="utf-8")
    params = inputs_params("table", [str(tmp_path / n) for n in ("a.csv", "b.csv")], columns=MAP)
    frame = read_inputs(params, {"cook", "nurse"}, RejectedRows())
    assert frame.rows() == [(0, "chef", "cook"), (1, "RN", "nurse")]


@pytest.mark.parametrize("columns", [{}, {"occupation_id": "id"}, {"raw_title": "a", "title": "b"}])
def test_a_map_that_does_not_fit_is_explained(columns: dict[str, str]) -> None:
    with pytest.raises(IngestError, match=r"ingest\.inputs\.columns: missing"):
        read("table", "i.csv", columns)


@pytest.mark.parametrize("reader", ["table", "lines"])
def test_a_missing_file_is_named_with_what_to_do(reader: str) -> None:
    with pytest.raises(IngestError, match=r"no/such is missing.*ingest\.inputs\.file.*external:"):
        read(reader, "no/such", MAP)
