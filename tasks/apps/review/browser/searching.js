// The search as one sees it: a field, the best results, arrows between them.

const RESULTS = 12;
let results = [];

function openSearch() {
  showSearch(true);
  at("query").value = "";
  at("query").focus();
  find();
}

function closeSearch() {
  showSearch(false);
  marked = 0;
  at("card").focus();
}

// The title stays in sight, its alternatives make room.
function showSearch(shown) {
  at("search").hidden = !shown;
  document.body.classList.toggle("searching", shown);
}

function find() {
  results = search.find(at("query").value, RESULTS);
  marked = 0;
  renderResults();
}

function renderResults() {
  const rows = results.map(([occupation, title], place) => {
    const name = make("span", { class: "name" }, make("b", {}, label(occupation)));
    if (title !== label(occupation)) name.append(make("span", { class: "quiet" }, ` also “${title}”`));
    return make("li", {
      id: `result-${place}`, role: "option", "aria-selected": String(place === marked),
      class: place === marked ? "marked" : "",
    }, name, make("span", { class: "quiet code" }, codes(occupation)));
  });
  at("results").replaceChildren(...rows);
  at("query").setAttribute("aria-activedescendant", rows.length ? `result-${marked}` : "");
  if (!rows.length && at("query").value.trim()) at("results").append(make("li", { class: "quiet" }, "none"));
}

function pressInSearch(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by) {
    marked = Math.max(0, Math.min(results.length - 1, marked + by));
    renderResults();
  } else if (event.key === "Escape") {
    closeSearch();
  } else if (event.key === "Enter" && results.length) {
    const [occupation] = results[marked];
    closeSearch();
    choose(occupation);
  } else {
    return;
  }
  event.preventDefault();
}
