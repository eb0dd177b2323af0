// Actions of the keys on the queue: decide one title or many, or take the last step back.

let confirming = null; // occupation of a bulk decision that waits for its second press

function decide(places, verdict, occupation, message) {
  session.decide(places, verdict, occupation);
  marked = 0;
  render();
  announce(session.kept ? message : `${message} (This browser keeps nothing: save before you close the tab.)`);
}

function choose(occupation) {
  const item = items[session.current];
  const verdict = occupation === item.predicted ? CORRECT : INCORRECT;
  decide([session.current], verdict, occupation, `${item.title}: ${verdict}, ${label(occupation)}`);
}

function accept(place) {
  const alternative = items[session.current].alternatives[place];
  if (alternative) choose(alternative[0]);
  else announce("There is no such answer: / searches, N is not a job title, S skips.");
}

function move(by) {
  const last = items[session.current].alternatives.length - 1;
  marked = Math.max(0, Math.min(last, marked + by));
  render();
}

function acceptAll() {
  const { predicted } = items[session.current];
  if (predicted === null) return announce("There is no answer to accept.");
  const places = session.open(items.length, (item) => item.predicted === predicted);
  const message = `${count(places.length, "title")} answered ${label(predicted)}`;
  if (confirming !== predicted) {
    confirming = predicted;
    return announce(`Accept all ${message}? Shift+A again does; any other key does not.`);
  }
  confirming = null;
  return decide(places, CORRECT, predicted, `${message}: correct, all of them. U takes all back.`);
}

function undo() {
  const titles = session.undo();
  marked = 0;
  render();
  announce(titles ? `${count(titles, "title")} taken back` : "Nothing to take back");
}

function save() {
  const rows = session.done - session.counts[SKIPPED];
  if (!rows) return announce("Nothing is decided yet.");
  const name = fileName(new Date());
  download(feedbackText(items, occupations, session.decisions, reviewerName()), name);
  session.saved = true;
  return announce(`${name}: ${count(rows, "decision")}. Put it into the folder ${data.feedback}.`);
}

function incorrect() {
  const { title, predicted } = items[session.current];
  if (predicted === null) return announce("There is no answer that could be incorrect: S skips.");
  return decide([session.current], INCORRECT, null, `${title}: incorrect, the right one unknown`);
}

function notAJobTitle() {
  const { title } = items[session.current];
  decide([session.current], NOT_A_JOB_TITLE, null, `${title}: not a job title`);
}

function skip() {
  decide([session.current], SKIPPED, null, `${items[session.current].title}: skipped`);
}
