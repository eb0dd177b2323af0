"""A million rows of feedback, in a process of their own whose memory the system measures."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = 1_000_000
MIB = 480
"""Above imports, where 382 were measured; as Python lists 900,000 taken rows took 1,058."""
HERE = Path(__file__).resolve().parent
PROGRAM = """
import json, resource, sys
from pathlib import Path
from feedback_tables import ALIASES, RejectedRows, read_feedback

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

before, rejected = peak(), RejectedRows()
taken, _ = read_feedback(Path(sys.argv[1]), {}, ALIASES, rejected, from_labels=False)
frame = rejected.frame()
told = {"mib": peak() - before, "taken": len(taken), "rejected": len(frame)}
print(json.dumps(told | {"reasons": rejected.reasons(), "last": frame.row(-1)}))
"""
PATHS = [HERE.parents[2], HERE.parents[1], HERE.parent, HERE]


def write(path: Path) -> None:
    """Write distinct titles of about 100 bytes a row; every second one is bad."""
    with path.open("w", encoding="utf-8") as file:
        file.write("raw_title,predicted_occupation_id,matched_title,verdict,judged_at\n")
        for number in range(ROWS):
            said = ("yes" if number % 2 == 0 else "correct", f"{number % 28 + 1}.1.2026")
            file.write(f"Fachkraft für Lager {number} (m/w/d) in Vollzeit und Schicht in Köln,")
            file.write(f"cook,chef,{said[0]},{said[1]} 10:{number % 60:02d}\n")


@pytest.mark.slow
def test_memory_is_bounded(tmp_path: Path) -> None:
    """The rows taken, those refused and some chunks; not the file, and no object a row."""
    write(tmp_path / "f.csv")
    path = {"PYTHONPATH": os.pathsep.join(map(str, PATHS))}
    command = [sys.executable, "-c", PROGRAM, tmp_path]
    done = subprocess.run(command, env=path, capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout)
    bad = ROWS // 2
    assert (measured["taken"], measured["rejected"]) == (ROWS - bad, bad)
    assert list(measured["reasons"].values()) == [bad]
    file, line, reason, row = measured["last"]
    assert (file, line) == ("f.csv", ROWS)
    assert "yes" in row and "verdict" in reason
    assert measured["mib"] < MIB
