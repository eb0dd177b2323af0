// One title at a time: the model's answer and why, the progress, and the next titles.
// In the document are the current title and the next few, so that a queue may be of any length.

const NEXT = 3;
const percent = (share) => `${Math.round(share * 100)} %`;

function render() {
  const item = items[session.current];
  at("bar").max = Math.max(items.length, 1);
  at("bar").value = session.done;
  at("count").textContent = `${session.done} of ${items.length}, ${session.counts[SKIPPED]} skipped`;
  at("card").replaceChildren(...(item ? titleCard(item) : summary()));
  const next = session.open(NEXT + 1).slice(1);
  at("next").replaceChildren(...next.map((place) => make("li", {}, items[place].title)));
  at("announced").textContent = item ? announced(item) : "The queue is done.";
}

function titleCard(item) {
  const rows = item.alternatives.map((alternative, place) => alternativeRow(item, alternative, place));
  const none = make("p", { class: "none" }, "The model has no answer: search, not a job title, or skip.");
  return [
    make("h2", { id: "title" }, item.title),
    make("p", { class: "quiet" }, item.why_queued),
    rows.length ? make("ol", { id: "alternatives" }, ...rows) : none,
    ...(item.answered ? [make("p", { id: "why" }, item.answered)] : []),
    ...differences(item),
  ];
}

function alternativeRow(item, [occupation, title, score], place) {
  const name = make("span", { class: "name" }, make("b", {}, label(occupation)));
  if (title && title.toLowerCase() !== label(occupation).toLowerCase()) {
    name.append(make("span", { class: "quiet" }, ` by “${title}”`));
  }
  const sure = place === 0 && item.confidence !== null ? `${percent(item.confidence)} sure` : "";
  const chosen = place === marked ? { class: "marked", "aria-current": "true" } : {};
  return make("li", chosen,
    make("kbd", {}, String(place + 1)), name,
    make("span", { class: "quiet code" }, codes(occupation)),
    make("span", { class: "sure" }, sure),
    make("meter", { min: 0, max: 1, value: Math.max(0, score), title: "similarity" }),
    make("span", { class: "score" }, score?.toFixed(2) ?? ""));
}

function differences(item) {
  if (!item.distinguishing.length && !item.runnerUp.length) return [];
  const words = (list) => list.join(", ") || "nothing";
  const text = `Of the two closest, the first has ${words(item.distinguishing)}, the second ${words(item.runnerUp)}.`;
  return [make("p", { class: "quiet" }, text)];
}

function summary() {
  const { counts } = session;
  const title = items.length ? "All done" : "Nothing is worth a minute";
  const text = `${counts[CORRECT]} correct, ${counts[INCORRECT]} incorrect, ${counts[NOT_A_JOB_TITLE]} not job titles, ` +
    `${counts[SKIPPED]} skipped.`;
  const next = `D saves the file of feedback: put it into the folder ${data.feedback}. U takes back.`;
  return [make("h2", { id: "title" }, title), make("p", {}, text), make("p", { class: "quiet" }, next)];
}

function announced(item) {
  const answer = item.predicted === null ? "no answer" : label(item.predicted);
  return `Title ${session.current + 1} of ${items.length}: ${item.title}. Answer: ${answer}.`;
}
