// The page comes to life: the reviewer, earlier decisions, and the first title.

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
  at("folder").textContent = data.feedback;
  const hint = ({ name, meaning }) => make("span", {}, make("kbd", {}, name), ` ${meaning}`);
  at("keys").append(...KEYS.filter(({ quiet }) => !quiet).map(hint));
  at("help-keys").append(...KEYS.flatMap(({ name, meaning }) => [
    make("dt", {}, make("kbd", {}, name)), make("dd", {}, meaning),
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
  if (session.done) announce(`Goes on after ${count(session.done, "title")}.`);
  setTimeout(() => search.prepare());
}

begin();
