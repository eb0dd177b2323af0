"""The default registry of a clone that was moved, renamed or copied.

MLflow keeps the absolute places of all artifacts in its database, though they lie beside it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

END = "/.mlflow/artifacts"
COLUMNS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "storage_location"),
)


def follow_move(folder: Path) -> bool:
    """Let the database in `folder` name the artifacts beside it; return whether it did not.

    All places change together or none does. A database that has no tables yet stays as it is.
    """
    database, here = folder / "mlflow.db", (folder / "artifacts").as_uri()
    if not database.is_file():
        return False
    with closing(sqlite3.connect(database, timeout=60)) as connection, connection:
        tables = "SELECT count(*) FROM sqlite_master WHERE name = 'model_versions'"
        if connection.execute(tables).fetchone() == (0,):
            return False
        places = connection.execute("SELECT DISTINCT artifact_location FROM experiments").fetchall()
        moved = [old for (old,) in places if str(old).endswith(END) and old != here]
        for old in moved:
            for table, column in COLUMNS:
                connection.execute(
                    f"UPDATE {table} SET {column} = :here || substr({column}, :length + 1) "
                    f"WHERE {column} = :old OR substr({column}, 1, :length + 1) = :old || '/'",
                    {"here": here, "old": old, "length": len(old)},
                )
    return bool(moved)
