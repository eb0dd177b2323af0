"""The page of `rolecall review` in headless Chromium: a session by keyboard alone, kept and saved.

Without Chromium these tests are skipped: `apt-get update && apt-get install -y chromium`.
"""

import csv
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from chromium import MISSING, PROGRAM, Tab, check_policy, chromium, until

from tasks.apps.review.page import Occupation, page
from tasks.apps.review.queue import QUEUE
from tasks.io.schemas import FEEDBACK

pytestmark = [pytest.mark.slow, pytest.mark.skipif(PROGRAM is None, reason=MISSING)]

OCCUPATIONS = [
    Occupation("=nurse", "nurse", ["nurse", "ward sister"], ["2", "22"]),
    Occupation("baker", "baker", ["baker", "bread maker", "pâtissier"], ["7"]),
    Occupation("cook", "cook", ["cook", "kitchen chef, senior"], ["5"]),
]
KEYS = ("a", "ArrowDown", "Enter", "n", "s", "u", "Shift+a", "Shift+a", "j", "2", "4", "d")
FOLDER = "/a clone/feedback/<b>mine"
SHOWN = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
"""Until the frame behind a key is shown; nobody presses the next one before."""
NAMES = [occupation.id for occupation in OCCUPATIONS]
TITLES = {
    "night nurse": "=nurse",
    "bread </script><script>fault()</script>": "baker",
    '=1+1, "chef";=2': "cook",
    "Führungskraft\n🍞": "=nurse",
    **{"hello": None, "nurse 2": "=nurse", "skipped": "cook", "nurse 3": "=nurse"},
    "last": "baker",
}


def item(title: str, predicted: str | None, names: list[str]) -> dict[str, Any]:
    others = [name for name in names if name != predicted]
    top = [predicted, *others][:5] if predicted else []
    return {
        **{"raw_title": title, "occupation_id": predicted, "model_version": "m1", "rows": 3},
        "matched_title": predicted and f"alias of {predicted}",
        "confidence": 0.25 if predicted else None,
        **{"chosen_by": "coverage", "served": "answered" if predicted else None},
        **{"why_queued": f"3 rows; {title[:20]}", "why_answered": f"because of {title}"},
        **{"distinguishing_words": [], "runner_up_words": []},
        "top_occupation_ids": top,
        "top_titles": [f"alias of {name}" for name in top],
        "top_scores": [0.9 - 0.1 * rank for rank in range(len(top))],
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page of nine titles, and for what the browser keeps and saves."""
    folder = tmp_path_factory.mktemp("page")
    items = [item(title, predicted, NAMES) for title, predicted in TITLES.items()]
    document = page(pl.DataFrame(items, dict(QUEUE)), OCCUPATIONS, "models:/rolecall/1", FOLDER)
    (folder / "review.html").write_text(document, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Tab]:
    with chromium(folder / "profile", folder / "downloads") as opened:
        yield opened


@pytest.fixture
def tab(browser: Tab, folder: Path) -> Tab:
    """The page in a browser that has forgotten every earlier session."""
    browser.open(folder / "review.html")
    browser.value("localStorage.clear()")
    browser.open(folder / "review.html")
    return browser


def saved(downloads: Path) -> list[dict[str, str]]:
    """Wait for the one file, and read it as a program reads CSV."""
    until(lambda: len([*downloads.glob("review-*.csv")]) == 1)
    (path,) = downloads.glob("review-*.csv")
    content = path.read_bytes()
    path.unlink()
    assert content.startswith(b"\xef\xbb\xbf"), "Excel knows UTF-8 by its mark"
    rows = [*csv.DictReader(content.decode("utf-8-sig").splitlines(keepends=True))]
    assert list(rows[0]) == [*FEEDBACK, "chosen_by", "served"]
    return rows


def verdicts(rows: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    return [(row["raw_title"], row["verdict"], row["corrected_occupation_id"]) for row in rows]


def test_a_whole_session_by_keyboard(folder: Path, tmp_path: Path) -> None:
    """Two days' work: on the second one the browser is started anew."""
    file, downloads = folder / "review.html", tmp_path / "downloads"
    with chromium(tmp_path / "profile", downloads) as tab:
        tab.open(file)
        tab.press("m", "e", "Enter")
        assert tab.text("count") == "0 of 9, 0 skipped"
        assert tab.text("title") == "night nurse"
        tab.press("a")
        assert tab.text("message") == "night nurse: correct, nurse"
        assert tab.text("title") == "bread </script><script>fault()</script>"
        tab.press("ArrowDown", "ArrowDown", "Enter")  # the third: cook
        tab.press("1")  # the first is the answer
        tab.press("/", *"mak br", "Enter")
        assert tab.text("message").endswith("incorrect, baker")
        tab.press("a")
        refused = "There is no such answer: / searches, N is not a job title, S skips."
        assert tab.text("message") == refused
        tab.press("n", "u", "n")
        assert tab.text("count") == "5 of 9, 0 skipped"
    with chromium(tmp_path / "profile", downloads) as tab:
        tab.open(file)
        assert tab.text("message") == "Goes on after 5 titles."
        assert tab.text("title") == "nurse 2"
        tab.press("Shift+a")
        assert tab.text("message").startswith("Accept all 2 titles answered nurse?")
        tab.press("j")
        assert tab.text("count") == "5 of 9, 0 skipped", "another key does not confirm"
        tab.press("Shift+a", "Shift+a")
        assert (tab.text("title"), tab.text("count")) == ("skipped", "7 of 9, 0 skipped")
        tab.press("u")
        assert tab.text("count") == "5 of 9, 0 skipped", "all of them in one step"
        tab.press("Shift+a", "Shift+a", "s", "2")
        assert tab.text("title") == "All done"
        assert "4 correct, 3 incorrect, 1 not job titles, 1 skipped." in tab.text("card")
        tab.press("Ctrl+s")
        rows = saved(downloads)
        assert tab.requests == [file.as_uri()], "it asks for nothing"
        assert not tab.faults
    first = rows[0]
    assert first.pop("judged_at").endswith("Z")
    assert first == {
        **{"raw_title": "night nurse", "verdict": "correct", "corrected_occupation_id": ""},
        **{"predicted_occupation_id": "'=nurse", "matched_title": "alias of =nurse"},
        **{"model_version": "m1", "reviewer_id": "me", "chosen_by": "coverage"},
        "served": "answered",
    }
    assert verdicts(rows) == [
        ("night nurse", "correct", ""),
        ("bread </script><script>fault()</script>", "incorrect", "cook"),
        ("'=1+1, \"chef\";'=2", "correct", ""),
        ("Führungskraft\n🍞", "incorrect", "baker"),
        ("hello", "not_a_job_title", ""),
        ("nurse 2", "correct", ""),
        ("nurse 3", "correct", ""),
        ("last", "incorrect", "'=nurse"),
    ]


def test_an_answer_is_incorrect_and_nobody_knows_better(tab: Tab, folder: Path) -> None:
    tab.press("Enter", "x")
    assert tab.text("message") == "night nurse: incorrect, the right one unknown"
    tab.press("s", "s", "s", "x")
    assert tab.text("message") == "There is no answer that could be incorrect: S skips."
    assert tab.text("count") == "4 of 9, 3 skipped"
    tab.press("d")
    assert verdicts(saved(folder / "downloads")) == [("night nurse", "incorrect", "")]


def test_undo_goes_back_to_the_beginning(tab: Tab) -> None:
    tab.press("Escape", "a", "s", "n", "3", "Shift+a", "u", "Ctrl+z", "u", "u", "u")
    assert tab.text("message") == "Nothing to take back"
    assert (tab.text("title"), tab.text("count")) == ("night nurse", "0 of 9, 0 skipped")
    tab.press("d")
    assert tab.text("message") == "Nothing is decided yet."


def test_search(tab: Tab) -> None:
    """Parts that begin words come before parts within them: `k` is one of kitchen."""
    shown = "[...document.querySelectorAll('#results b')].map((b) => b.innerText)"
    tab.press("Enter")
    for query, labels in {
        **{"nurse": ["nurse"], "aker": ["baker"], "k": ["cook"], "zebra": []},
        **{"sis wa": ["nurse"], "chef coo": ["cook"]},  # parts in any order, in two titles
        "patiss": ["baker"],  # without its accent
    }.items():
        tab.press("/", *query)
        assert tab.value(shown) == labels, query
        tab.press("Escape")
    assert tab.text("count") == "0 of 9, 0 skipped"


def test_another_layout_and_a_held_key(tab: Tab) -> None:
    """A Russian keyboard has no `a`, but a key in its place; a held key decides one title."""
    tab.press("Enter")
    key = {"key": "ф", "code": "KeyA", "text": "ф", "windowsVirtualKeyCode": 65}
    for repeated in (False, True, True):
        tab.ask("Input.dispatchKeyEvent", type="keyDown", autoRepeat=repeated, **key)
    assert tab.text("count") == "1 of 9, 0 skipped"
    tab.press("?")
    assert "undo" in tab.text("help")
    assert tab.text("folder") == FOLDER, "where the file goes"
    tab.press("a")
    assert tab.text("count") == "1 of 9, 0 skipped", "help is read, not a title"


def test_a_script_in_the_page_does_not_run_and_nothing_is_fetched(tab: Tab) -> None:
    check_policy(tab)
    assert any("Content Security Policy" in fault for fault in tab.faults)


def test_five_thousand_titles_and_three_thousand_occupations(tab: Tab, tmp_path: Path) -> None:
    """Every way to decide and to take back, and a search, five times over."""
    path = tmp_path / "large.html"
    path.write_text(large(), encoding="utf-8")
    tab.open(path)
    tab.press("Enter")
    for turn in range(1, 6):
        for key in (*KEYS, "/", *f"wo{turn} ma {turn}", "ArrowDown", "Enter"):
            tab.press(key)
            tab.value(SHOWN)
    assert int(tab.text("count").split(" of ")[0]) >= 5 * 7
    assert not tab.faults


def large() -> str:
    """Return a page of random titles, with ten aliases an occupation."""
    rng = random.Random(1)
    words = [f"{rng.choice(['wo', 'ma', 'ni', 'te'])}{number}" for number in range(3000)]
    occupations = [
        Occupation(
            f"http://example.org/occupation/{number:032x}",
            f"{' '.join(rng.sample(words, 2))} {number}",
            [" ".join(rng.sample(words, rng.randint(1, 4))) for _ in range(10)],
            [str(number // 1000), str(number // 10)],
        )
        for number in range(3000)
    ]
    names = [occupation.id for occupation in occupations]
    items = [
        item(f"{' '.join(rng.sample(words, 4))} {number}", rng.choice(names), rng.sample(names, 5))
        for number in range(5000)
    ]
    return page(pl.DataFrame(items, schema=dict(QUEUE)), occupations, "models:/rolecall/1")
