"""Hundreds of requests to `mlflow models serve`, most bad: the caller reads what was wrong."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import guide_commands
import pytest
import tiny_registry
import web_port
from mlflow_import import WARNINGS

pytestmark = [pytest.mark.slow, *WARNINGS]

REQUESTS = 300
MLFLOWS_OWN = {"deeply nested": "RecursionError in json.loads of the body, which nothing catches"}
"""Kinds of body that MLflow's server answers with 500 before any model is asked, with the cause."""


class Body(NamedTuple):
    """A request; `rows` are in its answer, or None where it has to be refused."""

    kind: str
    data: bytes
    rows: int | None
    content_type: str = "application/json"


def split(values: list[Any], **more: Any) -> bytes:
    table = {"columns": ["raw_title"], "data": [[value] for value in values]}
    return json.dumps({"dataframe_split": table, **more}).encode()


def bodies(draw: random.Random) -> Iterator[Body]:
    """Yield one of each kind, with numbers and texts drawn anew."""
    count = draw.randint(1, 9)
    titles = draw.choices(("nurse", "c++ developer", "", "???", "𝓷𝓾𝓻𝓼𝓮", None), k=count)
    text = "".join(chr(draw.choice((32, 65, 233, 0x4E2D, 0x1F9D1))) for _ in range(count))
    records = [{"raw_title": title, "other": 1} for title in titles]
    number, many = draw.choice((0, -1, 1.5, True, 10**30)), draw.randint(2000, 5000)
    yield Body("good, split", split(titles), count)
    yield Body("good, records", json.dumps({"dataframe_records": records}).encode(), count)
    yield Body("good, inputs", json.dumps({"inputs": {"raw_title": [text]}}).encode(), 1)
    yield Body("good, instances", json.dumps({"instances": records}).encode(), count)
    yield Body("good, csv", b'raw_title\nnurse\n"a, b"\n', 2, "text/csv")
    params = {"top_k": 2, "code_depth": 1, "language": "en"}
    yield Body("good, params", split(titles, params=params), count)
    yield Body("good, huge title", split(["x" * draw.randint(10**5, 10**6) + " nurse"]), 1)
    yield Body("good, many rows", split(["nurse"] * many), many)
    yield Body("a number as title", split([number, "nurse"]), 2)
    yield Body("a list as title", split([[text]]), 1)
    yield Body("an object as title", split([{"a": [text]}]), 1)
    yield Body("NaN as title", split([float("nan"), "nurse"]), 2)
    yield Body("infinity as title", split([float("inf")]), 1)
    yield Body("no rows", split([]), 0)
    ragged = b'{"dataframe_split": {"columns": ["raw_title"], "data": [[1, 2]]}}'
    yield Body("ragged rows", ragged, None)
    yield Body("data that is none", b'{"dataframe_split": 7}', None)
    yield Body("no known key", json.dumps({text or "a": 1}).encode(), None)
    yield Body("a bare list", json.dumps(titles).encode(), None)
    yield Body("null", b"null", None)
    yield Body("deeply nested", b"[" * 10**5 + b"]" * 10**5, None)
    yield Body("nothing", b"", None)
    yield Body("half of it", split(titles)[: draw.randint(1, 20)], None)
    yield Body("no UTF-8", b'{"inputs": ["\xff\xfe"]}', None)
    yield Body("no UTF-8, csv", b"raw_title\n\xff\xfe\n", None, "text/csv")
    yield Body("another encoding", split(titles).decode().encode("utf-16"), count)
    yield Body("bytes", draw.randbytes(count), None)
    yield Body("no such type", split(titles), None, "application/xml")
    yield Body("no such charset", split(titles), None, "application/json; charset=latin-1")
    yield Body("csv of another column", f"title\n{text}\n".encode(), None, "text/csv")
    yield Body("no top_k", split(titles, params={"top_k": None}), count)
    for name, *wrong in (
        ("top_k", 0, "many", [3], 1.5),
        ("min_confidence", -1, "much", [0.1]),
        ("code_depth", -1, "two"),
        ("language", 3, ["en"]),
        ("", 3),
    ):
        for value in wrong:
            yield Body(f"param {name} = {value}", split(titles, params={name: value}), None)
    yield Body("params that are none", split(titles, params=[1]), None)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[web_port.Server]:
    folder = tiny_registry.registered(tmp_path_factory.mktemp("registered"), 1)
    address = tiny_registry.address_of(folder)
    with web_port.serving("models:/rolecall/1", address, folder) as running:
        yield running


def test_hundreds_of_requests(server: web_port.Server) -> None:
    draw, requests, failed = random.Random(1), 0, Counter[str]()
    while requests < REQUESTS:
        for body in bodies(draw):
            status, answer = server.post(body.data, body.content_type)
            requests += 1
            if status >= 500:
                failed[body.kind] += 1
            elif status == 200:
                assert len(json.loads(answer)["predictions"]) == body.rows, body
            else:
                assert 400 <= status < 500 and body.rows is None, (body, answer)
                assert answer.strip(), body
    assert set(failed) == set(MLFLOWS_OWN)
    assert server.alive()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"top_k": -1}, "top_k = -1; it must be from 1 to 1000"),
        ({"top_k": 100_000_000}, "top_k = 100000000; it must be from 1 to 1000"),
        ({"min_confidence": 0.5}, "this model is not calibrated"),
        ({"code_depth": 99}, "code_depth = 99; this taxonomy has 2 levels above its occupations"),
        ({"language": "xx"}, "language = 'xx'; the titles of this model are in en; leave it out"),
        ({"topk": 3}, "['topk']; this model knows top_k, min_confidence, code_depth, language"),
    ],
    ids=str,
)
def test_the_caller_reads_what_was_wrong(server, params, message) -> None:
    status, answer = server.post(split(["nurse"], params=params))
    assert status == 400 and message in json.loads(answer)["message"]


def test_numbers_and_lists_of_an_answer(server: web_port.Server) -> None:
    """Nulls are null, and `top_k` holds."""
    _, answer = server.post(split(["nurse", None], params={"top_k": 2}))
    nurse, nothing = json.loads(answer)["predictions"]
    assert nurse["confidence"] is None and nurse["reason"] == "uncalibrated"
    assert len(nurse["top_scores"]) == 2 and nurse["score"] == nurse["top_scores"][0]
    assert nothing["occupation_id"] is None and nothing["score"] is None
    assert nothing["reason"] == "null" and nothing["top_titles"] == []


@pytest.mark.parametrize("command", guide_commands.commands("/invocations"))
def test_the_commands_of_the_guide(server: web_port.Server, command: str) -> None:
    """This model has no calibration, which it says of a minimum confidence."""
    answer = guide_commands.answered(command, f"http://127.0.0.1:{server.port}/")
    if "min_confidence" in command:
        assert "this model is not calibrated" in answer["message"]
    else:
        assert answer["predictions"][0]["occupation_id"]


FORMS = {
    "split": lambda values: json.loads(split(values)),
    "records": lambda values: {"dataframe_records": as_records(values)},
    "instances": lambda values: {"instances": as_records(values)},
    "instances, a list": lambda values: {"instances": values},
    "inputs": lambda values: {"inputs": {"raw_title": values}},
    "inputs, records": lambda values: {"inputs": as_records(values)},
    "inputs, a list": lambda values: {"inputs": values},
}


def as_records(values: list[Any]) -> list[dict[str, Any]]:
    return [{"raw_title": value} for value in values]


@pytest.mark.parametrize("form", FORMS)
def test_null_is_null_in_every_form(server: web_port.Server, form: str) -> None:
    """NaN in `inputs` was answered with an occupation; a text of these letters is a placeholder."""
    nan, placeholders = float("nan"), ["nan", "None", "null"]
    expected = {"nurse": "uncalibrated", **dict.fromkeys(placeholders, "not a job title")}
    for values in ([None, "nurse"], [nan, "nurse"], [None], [nan], [None, nan], placeholders):
        status, answer = server.post(json.dumps(FORMS[form](values)).encode())
        assert status == 200, answer
        reasons = [row["reason"] for row in json.loads(answer)["predictions"]]
        assert reasons == [expected.get(value, "null") for value in values], values


def test_an_empty_cell_of_a_csv_is_null_and_nothing_else(server: web_port.Server) -> None:
    """Pandas would read `nan`, `None` and `NA` as null too, and leave out the blank line.

    They are text here, and the list of placeholders has the first two.
    """
    status, answer = server.post(b'raw_title\nnan\nNone\nNA\n\n""\nnurse\n', "text/csv")
    assert status == 200, answer
    reasons = [row["reason"] for row in json.loads(answer)["predictions"]]
    known = "uncalibrated"
    assert reasons == [*["not a job title"] * 2, known, "null", "null", known]
    status, answer = server.post(b'raw_title\nnurse,"a\n', "text/csv")
    assert status == 400 and "the body is no CSV" in json.loads(answer)["message"]
