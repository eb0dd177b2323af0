// The page comes to life: who judges, what was decided before, and the first title.

const NAME = "rolecall-reviewer";

function reviewerName() {
  return at("reviewer").value.trim();
}

function keepName() {
  try {
    localStorage.setItem(NAME, reviewerName());
  } catch {
    session.kept = false;
  }
}

function begin() {
  try {
    at("reviewer").value = localStorage.getItem(NAME) ?? "";
  } catch {
    session.kept = false;
  }
  at("model").textContent = data.model;
  const hint = ({ shown, says }) => make("span", {}, make("kbd", {}, shown), ` ${says}`);
  at("keys").append(...KEYS.filter(({ quiet }) => !quiet).map(hint));
  at("help-keys").append(...KEYS.flatMap(({ shown, says }) => [
    make("dt", {}, make("kbd", {}, shown)), make("dd", {}, says),
  ]));
  document.addEventListener("keydown", press);
  at("reviewer").addEventListener("input", keepName);
  at("query").addEventListener("input", find);
  addEventListener("storage", (event) => {
    if (event.key === session.key) { session.load(); render(); }
  });
  addEventListener("beforeunload", (event) => {
    if (!session.kept && !session.saved) event.preventDefault();
  });
  render();
  (reviewerName() ? at("card") : at("reviewer")).focus();
  if (session.done) say(`Goes on after ${count(session.done, "title")}.`);
  setTimeout(() => search.prepare());
}

begin();
