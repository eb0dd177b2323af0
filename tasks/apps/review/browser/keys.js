// Every key, what it does, and how it is shown; nothing needs a mouse.

const KEYS = [
  { keys: ["Enter"], shown: "Enter", says: "take what is marked", does: () => accept(marked) },
  { keys: ["a"], shown: "A", says: "accept the answer", does: () => accept(0) },
  { keys: ["1", "2", "3", "4", "5"], shown: "1–5", says: "take that one", does: (key) => accept(key - 1) },
  { keys: ["ArrowDown", "j"], shown: "↓ J", says: "mark the next", does: () => move(1) },
  { keys: ["ArrowUp", "k"], shown: "↑ K", says: "mark the one before", does: () => move(-1), quiet: true },
  { keys: ["/"], shown: "/", says: "search", does: openSearch },
  { keys: ["n"], shown: "N", says: "not a job title", does: noTitle },
  { keys: ["s"], shown: "S", says: "skip", does: skip },
  { keys: ["Shift+a"], shown: "Shift+A", says: "accept all with this answer", does: acceptAll },
  { keys: ["u", "Ctrl+z"], shown: "U", says: "undo", does: undo, always: true },
  { keys: ["d", "Ctrl+s"], shown: "D", says: "save the file", does: save, always: true },
  { keys: ["r"], shown: "R", says: "reviewer", does: () => at("reviewer").select(), always: true, quiet: true },
  { keys: ["?"], shown: "?", says: "help", does: () => at("help").showModal(), always: true },
];

// The names of a pressed key: its sign, and on other layouts the place where that sign would be.
function names(event) {
  const held = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
  const shift = event.shiftKey ? "Shift+" : "";
  const letter = /^[a-z]$/i.test(event.key) ? shift + event.key.toLowerCase() : event.key;
  const place = /^(?:Key|Digit)(.)$/.exec(event.code);
  return [held + letter, ...(place ? [held + shift + place[1].toLowerCase()] : [])];
}

function press(event) {
  if (event.altKey || event.isComposing || at("help").open) return;
  const pressed = names(event);
  const saves = pressed[0] === "Ctrl+s";
  if (document.activeElement === at("reviewer") && !saves) return pressInName(event);
  if (!at("search").hidden && !saves) return pressInSearch(event);
  const name = pressed.find((one) => KEYS.some(({ keys }) => keys.includes(one)));
  const known = KEYS.find(({ keys }) => keys.includes(name));
  if (asked !== null && known?.does !== acceptAll && event.key !== "Shift") {
    asked = null;
    say("Nothing was accepted.");
  }
  if (!known) return;
  event.preventDefault();
  const moves = known.does === undo || name.startsWith("Arrow");
  if (event.repeat && !moves) return; // a key held down decides one title
  if (known.always || session.current < items.length) known.does(name);
}

function pressInName(event) {
  if (event.key === "Enter" || event.key === "Escape") at("card").focus();
}
