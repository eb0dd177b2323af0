"""`docs/RESULTS.md`, `docs/results/` and the README's tables, from results, `dvc.yaml` and code.

Run it with `python -m benchmarks.render`. Equal files give equal bytes; nothing is measured here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import yaml

from benchmarks.pages.made_by import stale
from benchmarks.pages.page_tables import Table
from benchmarks.pages.said import check, said
from benchmarks.pages.tables import datasets, distinct, markdown, where
from benchmarks.pages.training import training
from benchmarks.pages.trials import trials
from benchmarks.pages.unlearned import marked
from benchmarks.product.page import FILE, readme_block
from benchmarks.results import FOLDER, Line, Lines, Results, read_results, read_runs
from benchmarks.study import Study, studies
from models.repeatable.whole_file import write_bytes
from models.served.answers import Answer, columns

PAGE, WHOLE = Path("docs/RESULTS.md"), Path("docs/results")
PAPERS, DEVIATIONS = Path("docs/PAPERS.md"), Path(__file__).with_name("papers.md")
CLAIMS = Path(__file__).with_name("claims.yaml")
README, STAGES = Path("README.md"), Path("dvc.yaml")
WORDS: dict[type, str] = {str: "text", float: "number", bool: "yes/no"}
LISTS: dict[type, str] = {str: "text", float: "numbers"}
"""Types of the answer's columns, in words: of a value, of a list's members."""
HEAD = """# Results

What was measured, and what follows from it. Brackets are 95 % intervals over queries unless said
otherwise; every figure, its machine and its command are behind the links. Written by
`python -m benchmarks.render` from `results/*.csv`; `python -m benchmarks` lists what measures.
What is *stale* was measured with other code or data than stand here; its page says which."""


def pages(folder: Path = FOLDER) -> dict[Path, str]:
    """Return every page and plot that `docs/` has of the studies and the papers, by its path."""
    results, runs = read(folder), read_runs(folder)
    measured = [one for one in studies() if results[one.name]]
    answers = (_short(one, results, runs) for one in measured)
    made = {PAGE: lines_of([HEAD, *answers, *_claimed(results)])}
    made[PAPERS] = said(DEVIATIONS.read_text(encoding="utf-8"), "", results)
    for one in measured:
        made[WHOLE / f"{one.name}.md"] = _whole(one, results, runs)
        if "plot" in one.face:
            made[WHOLE / f"{one.name}.svg"] = _own(one, "plot", results)
        for name in one.face.get("figures", {}):
            made[WHOLE / f"{one.name}-{name}.svg"] = _own(one, name, results)
    return made


def readme(text: str, folder: Path = FOLDER, stages: Path = STAGES) -> str:
    """Return the README with its tables made anew: examples, benchmark, the answer, stages."""
    text = between_markers(text, "benchmark", readme_block(folder / FILE.name))
    text = between_markers(text, "answer", answer_table())
    examples = (folder / "answers.md").read_text(encoding="utf-8").strip()
    text = between_markers(text, "answers", examples)
    return between_markers(text, "stages", stage_table(stages))


def read(folder: Path) -> Results:
    """Return all rows that there are, those of networks that did not learn marked."""
    rows = {name: marked(own) for name, own in read_results(folder).items()}
    return defaultdict(list, rows)


def answer_table() -> str:
    """Write the columns of the registered model's answer: what each holds, and what it means."""
    declared = get_type_hints(Answer)
    lines = []
    for name, (kind, is_list, meaning) in columns().items():
        word = f"list of {LISTS[kind]}" if is_list else WORDS[kind]
        if type(None) in get_args(declared[name]):
            word += ", may be null"
        lines.append((f"`{name}`", word, meaning))
    return markdown(("column", "type", "meaning"), lines)


def stage_table(stages: Path = STAGES) -> str:
    """Write the stages of `dvc.yaml` with what each makes."""
    graph = yaml.safe_load(stages.read_text(encoding="utf-8"))["stages"]
    rows = [(f"`{name}`", stage.get("do", stage)["desc"]) for name, stage in graph.items()]
    return markdown(("stage", "makes"), rows)


def between_markers(text: str, name: str, content: str) -> str:
    """Return `text` with `content` between ``<!-- name:begin -->`` and ``<!-- name:end -->``."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"README.md needs {begin} and, after it, {end}, once each")
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n{content}\n{end}{rest.partition(end)[2]}"


def claims() -> list[tuple[str, dict[str, Any]]]:
    """Return what each paper claims, and what was found of it."""
    by_paper = yaml.safe_load(CLAIMS.read_text(encoding="utf-8"))
    return [(paper, one) for paper, several in by_paper.items() for one in several]


def _claimed(results: Results) -> Iterator[str]:
    """Yield the verdict on each claim of the papers."""
    yield "## What the papers claim, and what was found"
    lines = [
        (paper, one["claim"], f"**{one['verdict']}**", said(one["found"], "", results))
        for paper, one in claims()
    ]
    yield markdown(("paper", "claim", "verdict", "found"), lines)


def _short(one: Study, results: Results, runs: dict[str, Line]) -> str:
    """Write question, answer and the way to the whole, and what shows it."""
    face, link = one.face, f"[All of `{one.name}`](results/{one.name}.md)"
    plot = [f"![{face['plot']}](results/{one.name}.svg)"] if "plot" in face else []
    shown = [*plot, *_tables(one, "summary", results)]
    said_so = said(face["answer"].rstrip(), one.name, results)
    answer = f"{said_so} {link}{_mark(one, results, runs)}"
    return lines_of([f"## {face['question']}", answer, *shown]).rstrip("\n")


def _whole(one: Study, results: Results, runs: dict[str, Line]) -> str:
    face, rows = one.face, results[one.name]
    names = [(column, f"`{name}`", meaning) for column, name, meaning in one.meanings(rows)]
    return lines_of(
        [
            f"# {one.name}: {face['question']}",
            said(face["answer"], one.name, results),
            said(face.get("introduction", ""), one.name, results),
            *(
                f"![{caption}]({one.name}-{name}.svg)"
                for name, caption in face.get("figures", {}).items()
            ),
            *(_own(one, "tables", results) or []),
            *_tables(one, "tables", results),
            *trials(rows),
            *training(rows),
            "### How it was measured",
            _measured(one, rows, runs),
            "### Names",
            markdown(("column", "name", "meaning"), names),
        ]
    )


def _mark(one: Study, results: Results, runs: dict[str, Line]) -> str:
    """Name the data sets of which some figure is stale."""
    rows = results[one.name]
    old = [
        dataset
        for dataset in datasets(rows)
        if any(
            stale(one, runs[name], [dataset])
            for name in distinct(where(rows, dataset=dataset), "run")
        )
    ]
    return f" *Stale: {', '.join(old)}.*" if old else ""


def _tables(one: Study, where_shown: str, results: Results) -> Iterator[str]:
    for table in one.face.get(where_shown, []):
        yield from Table(**table).parts(one, results)


def _own(one: Study, name: str, results: Results) -> Any:  # noqa: ANN401
    """Return what a function of the study's own page gives, if it has that function."""
    function = getattr(one.page, name, None)
    return function(results) if function else None


def lines_of(parts: Iterable[str]) -> str:
    """Join parts of Markdown as paragraphs."""
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _measured(one: Study, rows: Lines, runs: dict[str, Line]) -> str:
    """Write each run with its machine, its command, what it measured, and what changed since."""
    lines = []
    for name in sorted(distinct(rows, "run")):
        own = where(rows, run=name)
        what = "; ".join(
            f"{dataset}: {', '.join(distinct(where(own, dataset=dataset), 'system'))}"
            for dataset in datasets(own)
        )
        since = stale(one, runs[name], datasets(own))
        lines.append((what, f"`{runs[name]['command']}`", runs[name]["machine"], since))
    return markdown(("measured", "command", "machine", "changed since"), lines)


def main() -> None:
    """Write all pages, remove those of studies that are gone, and the README's tables.

    Raises:
        ValueError: a study claims what its figures do not show; nothing is written.
    """
    results = read(FOLDER)
    for one in (one for one in studies() if results[one.name]):
        check(one.face.get("claims", []), one.name, results)
    for _, claim in claims():
        check(claim["holds"], "", results)
    made = pages()
    for path, text in made.items():
        write_bytes(text.encode(), path)
    for path in sorted(set(WHOLE.glob("*.*")) - set(made)):
        path.unlink()
    print(f"rendered {PAGE} and {len(made) - 1} files in {WHOLE}")
    if README.is_file():
        write_bytes(readme(README.read_text(encoding="utf-8")).encode(), README)
        print(f"rendered {README}")


if __name__ == "__main__":
    main()
