"""Several files of one option as one table, for the inference of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tasks.apps.profile_wizard.column_stats import ColumnStats, FileStats
from tasks.apps.profile_wizard.dry_run import DraftError
from tasks.tables.records import Format


def joined(files: Sequence[FileStats]) -> FileStats:
    """Return the columns that all files have, with the values of all.

    Files of a single column, which need not have a header, are joined whatever its name. A
    delimiter or an encoding in which the files differ is left to be detected in each.

    Raises:
        DraftError: the files have no column in common.
    """
    first, *others = files
    if all(len(file.columns) == 1 for file in files):
        columns = {
            name: [one for file in files for one in file.columns.values()] for name in first.columns
        }
    else:
        shared = [name for name in first.columns if all(name in one.columns for one in others)]
        columns = {name: [file.columns[name] for file in files] for name in shared}
    if not columns:
        names = "; ".join(f"{file.path.name}: {', '.join(file.columns)}" for file in files)
        raise DraftError(f"files of one option have the same columns, these have none: {names}")
    return replace(
        first,
        form=Format(
            _the_same(file.form.delimiter for file in files),
            _the_same(file.form.encoding for file in files),
        ),
        read_as=" / ".join(dict.fromkeys(file.read_as for file in files)),
        columns={
            name: ColumnStats(name, [value for column in parts for value in column.values])
            for name, parts in columns.items()
        },
        others=tuple(file.path for file in others),
    )


def _the_same(values: Iterable[str]) -> str:
    """Return the value if all are the same, otherwise an empty one."""
    distinct = {*values}
    return distinct.pop() if len(distinct) == 1 else ""
