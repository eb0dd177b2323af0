// Every key, its name on the page and its action; nothing needs a mouse.

const KEYS = [
  { keys: ["Enter"], name: "Enter", meaning: "take the marked one", action: () => accept(marked) },
  { keys: ["a"], name: "A", meaning: "accept the answer", action: () => accept(0) },
  { keys: ["1", "2", "3", "4", "5"], name: "1–5", meaning: "take that one", action: (key) => accept(key - 1) },
  { keys: ["ArrowDown", "j"], name: "↓ J", meaning: "mark the next", action: () => move(1) },
  { keys: ["ArrowUp", "k"], name: "↑ K", meaning: "mark the one before", action: () => move(-1), quiet: true },
  { keys: ["/"], name: "/", meaning: "search", action: openSearch },
  { keys: ["x"], name: "X", meaning: "incorrect", action: incorrect },
  { keys: ["n"], name: "N", meaning: "not a job title", action: notAJobTitle },
  { keys: ["s"], name: "S", meaning: "skip", action: skip },
  { keys: ["Shift+a"], name: "Shift+A", meaning: "accept all with this answer", action: acceptAll },
  { keys: ["u", "Ctrl+z"], name: "U", meaning: "undo", action: undo, always: true },
  { keys: ["d", "Ctrl+s"], name: "D", meaning: "save the file", action: save, always: true },
  { keys: ["r"], name: "R", meaning: "reviewer", action: () => at("reviewer").select(), always: true, quiet: true },
  { keys: ["?"], name: "?", meaning: "help", action: () => at("help").showModal(), always: true },
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
  if (confirming !== null && known?.action !== acceptAll && event.key !== "Shift") {
    confirming = null;
    announce("Nothing was accepted.");
  }
  if (!known) return;
  event.preventDefault();
  const moves = known.action === undo || name.startsWith("Arrow");
  if (event.repeat && !moves) return; // a key held down decides one title
  if (known.always || session.current < items.length) known.action(name);
}

function pressInName(event) {
  if (event.key === "Enter" || event.key === "Escape") at("card").focus();
}
