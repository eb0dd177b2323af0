// State that all parts of the page share: the data, the session, and the marked row.

const at = (id) => document.getElementById(id);
const data = JSON.parse(at("data").textContent);
const { items, occupations } = data;
const session = new Session(items, data.queue);
const search = new Search(occupations);
let marked = 0; // of the alternatives, or of the results while searching

const label = (occupation) => occupations[occupation][1];
const codes = (occupation) => occupations[occupation][3].slice(-1).join("");
const announce = (text) => { at("message").textContent = text; };
const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

function make(name, attributes, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...content);
  return element;
}
