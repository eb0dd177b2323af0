// The decisions as a file of feedback: CSV with the columns that the pipeline reads.
// Skipped titles have no row. Every cell is quoted, and a ' stands before what a spreadsheet would
// compute, by the rule of tasks/io/formulas.py.

const COLUMNS = [
  "raw_title", "predicted_occupation_id", "matched_title", "model_version",
  "verdict", "corrected_occupation_id", "reviewer_id", "judged_at", "chosen_by", "served",
];

function feedbackText(items, occupations, decisions, reviewer) {
  const rows = [COLUMNS];
  items.forEach((item, place) => {
    const decision = decisions[place];
    if (!decision || decision.verdict === SKIPPED) return;
    const isCorrected = decision.verdict === INCORRECT && decision.occupation !== null;
    const corrected = isCorrected ? occupations[decision.occupation][0] : "";
    rows.push([
      item.title,
      item.predicted === null ? "" : occupations[item.predicted][0],
      item.matched ?? "",
      item.version,
      decision.verdict,
      corrected,
      reviewer,
      new Date(decision.at).toISOString(),
      item.chosenBy,
      item.served ?? "",
    ]);
  });
  return rows.map((row) => row.map(cell).join(",") + "\n").join("");
}

const FORMULA = /(?:^|(?<=[;|\t\r\n]))(?='*[=+\-@\t\r\n＝＋－＠])/g;
const NUMBER = /^[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?$/;

function cell(text) {
  const guarded = NUMBER.test(text) ? text : text.replace(FORMULA, "'");
  return `"${guarded.replaceAll('"', '""')}"`;
}

function fileName(now) {
  const two = (number) => String(number).padStart(2, "0");
  const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join("-");
  return `review-${day}-${two(now.getHours())}${two(now.getMinutes())}.csv`;
}

function download(text, name) {
  const blob = new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
