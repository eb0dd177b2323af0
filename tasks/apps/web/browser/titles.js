"use strict";
// A title is sent 150 ms after the last key; an answer to an earlier one is never shown.

const PAUSE = 150;
const SURE = 0.8, LIKELY = 0.5;
const at = (id) => document.getElementById(id);
const within = (id, selector) => at(id).querySelector(selector);
const number = (value) => value.toFixed(2);
let timer = 0;
let asking = new AbortController();

function make(name, attributes, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...content);
  return element;
}

function meter(value, label, max = 1) {
  return make("meter", { value: Math.max(0, value), max, "aria-label": label });
}

async function ask() {
  clearTimeout(timer);
  asking.abort();
  const mine = asking = new AbortController();
  const title = at("title").value;
  keepInAddress(title);
  if (!title.trim()) return clear();
  try {
    const body = JSON.stringify({ titles: [title], explain: true });
    const headers = { "Content-Type": "application/json" };
    const response = await fetch("normalize", { method: "POST", headers, body, signal: mine.signal });
    const said = await response.json();
    if (mine !== asking) return undefined;
    if (!response.ok) return announce(said.message, true);
    return show(said.answers[0]);
  } catch (error) {
    if (mine !== asking || error.name === "AbortError") return undefined;
    return announce("The service does not answer. Is `rolecall serve` still running?", true);
  }
}

function keepInAddress(title) {
  const address = title ? `?title=${encodeURIComponent(title)}` : location.pathname;
  history.replaceState(null, "", address);
}

function announce(text, alone = false) {
  at("message").textContent = text;
  at("message").classList.toggle("unseen", !alone); // beside an answer it is for screen readers
  at("answer").hidden = alone;
}

function clear() {
  announce("", true);
}

function show(answer) {
  if (answer.abstained) return announce(`No answer, ${answer.reason}: ${answer.meaning}.`, true);
  const others = answer.alternatives.length;
  const sure = answer.confidence === null ? answer.reason : `confidence ${number(answer.confidence)}`;
  announce(`${answer.occupation_label}, ${sure}; ${others} other ${others === 1 ? "occupation" : "occupations"}`);
  at("label").textContent = answer.occupation_label;
  showConfidence(answer);
  showHierarchy(answer);
  showDetails(answer);
  showWhy(answer);
  showOthers(answer);
  return undefined;
}

function showConfidence({ confidence, meaning }) {
  if (confidence === null) return at("confidence").replaceChildren(meaning);
  const tone = confidence >= SURE ? "sure" : confidence >= LIKELY ? "unsure" : "wrong";
  const value = make("b", { class: tone }, number(confidence));
  return at("confidence").replaceChildren("confidence ", value, meter(confidence, "Confidence"));
}

function showHierarchy({ codes, code_labels: labels, code_confidences: sure }) {
  at("hierarchy").hidden = !codes.length;
  const item = (code, place) => make(
    "li", {}, [code, labels[place]].filter(Boolean).join(" "),
    ...(place in sure ? [make("small", {}, number(sure[place]))] : []),
  );
  within("hierarchy", "ol").replaceChildren(...codes.map(item));
}

function showDetails(answer) {
  const rows = [
    ["occupation", [answer.occupation_id]],
    ["closest alias", [answer.matched_title]],
    ["other codes", answer.crosswalk_codes],
    ["seniority", answer.seniority],
    ["contract", answer.contract],
    ["place", answer.location],
  ];
  const pairs = rows.filter(([, values]) => values.length);
  within("details", "dl").replaceChildren(...pairs.map(([name, values]) => make(
    "div", {}, make("dt", {}, name), make("dd", {}, values.join(", ")),
  )));
}

function showWhy({ explanation }) {
  const signed = (value) => (value < 0 ? "−" : "+") + number(Math.abs(value));
  const most = Math.max(...explanation.words.map(({ pull }) => pull), 0.01);
  within("why", "ul").replaceChildren(...explanation.words.map(({ word, pull }) => make(
    "li", {}, make("span", {}, word), meter(pull, `Pull of ${word}`, most), make("small", {}, signed(pull)),
  )));
  within("why", "p").textContent = explanation.why;
}

function showOthers({ alternatives }) {
  at("others").hidden = !alternatives.length;
  within("others", "ol").replaceChildren(...alternatives.map((one) => make("li", {}, make(
    "a", { href: `occupation?id=${encodeURIComponent(one.occupation_id)}` },
    make("span", {}, one.occupation_label),
    make("span", { class: "quiet" }, one.matched_title),
    make("span", { class: "number" }, one.codes.slice(-1).join("")),
    meter(one.score, "Score"),
    make("span", { class: "number" }, number(one.score)),
  ))));
}

function move(event) {
  const links = [...document.querySelectorAll(".alternatives a")];
  const stops = [at("title"), ...(at("answer").hidden ? [] : links)];
  const here = stops.indexOf(document.activeElement);
  const next = stops[here + (event.key === "ArrowDown" ? 1 : -1)];
  if (here < 0 || !next) return;
  event.preventDefault();
  next.focus();
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event);
  if (event.key === "/" && document.activeElement !== at("title")) {
    event.preventDefault();
    at("title").select();
  }
  if (event.key === "Escape") {
    at("title").value = "";
    at("title").focus();
    ask();
  }
}

at("title").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, PAUSE); });
at("form").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
document.addEventListener("keydown", press);
at("title").value = at("title").value || (new URLSearchParams(location.search).get("title") ?? "");
at("title").focus();
ask();
