"""The facts of the flow `review`."""

from __future__ import annotations

from pathlib import Path

from flows.review import facts


def test_facts_come_from_the_queue(tmp_path: Path) -> None:
    """1,200 and 3 rows; the second title has no answer."""
    lines = ["raw_title,predicted_occupation_id,rows", "nurse,n1,1200", '"hello,\nyou",,3']
    (tmp_path / "queue.csv").write_text("\ufeff" + "\n".join(lines) + "\n", encoding="utf-8")
    assert facts(tmp_path) == {
        "queue": "2 titles of 1,203 rows, 1 without an answer",
        "page": str(tmp_path / "review.html"),
        "table": str(tmp_path / "queue.csv"),
    }
