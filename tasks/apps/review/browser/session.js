// The decisions, step by step: kept in the browser under the queue's name, and undone in order.
// A step is one decision on one title or on many; the current title is the first without one.

const CORRECT = "correct", INCORRECT = "incorrect", NOT_A_JOB_TITLE = "not_a_job_title", SKIPPED = "skipped";
const VERDICTS = [CORRECT, INCORRECT, NOT_A_JOB_TITLE, SKIPPED];

class Session {
  constructor(items, queue) {
    this.items = items;
    this.key = `rolecall-review-${queue}`;
    this.kept = true;
    this.saved = true;
    this.load();
  }

  // Read what this browser knows of the queue; also called when another tab has gone on.
  load() {
    this.steps = [];
    this.decisions = new Array(this.items.length).fill(null);
    this.counts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0]));
    this.done = 0;
    this.current = 0;
    for (const step of this.read()) this.apply(step);
  }

  read() {
    try {
      return JSON.parse(localStorage.getItem(this.key)) ?? [];
    } catch {
      this.kept = false;
      return [];
    }
  }

  keep() {
    try {
      localStorage.setItem(this.key, JSON.stringify(this.steps));
    } catch {
      this.kept = false;
    }
  }

  decide(places, verdict, occupation) {
    this.apply([places, verdict, occupation, Date.now()]);
    this.saved = false;
    this.keep();
  }

  apply(step) {
    const [places, verdict, occupation, at] = step;
    this.steps.push(step);
    for (const place of places) this.decisions[place] = { verdict, occupation, at };
    this.counts[verdict] += places.length;
    this.done += places.length;
    while (this.current < this.items.length && this.decisions[this.current]) this.current += 1;
  }

  // Take the last step back; return how many titles it had, 0 if there is none.
  undo() {
    const step = this.steps.pop();
    if (!step) return 0;
    const [places, verdict] = step;
    for (const place of places) this.decisions[place] = null;
    this.counts[verdict] -= places.length;
    this.done -= places.length;
    this.current = Math.min(this.current, ...places.slice(0, 1));
    this.saved = false;
    this.keep();
    return places.length;
  }

  // The titles from the current one on that nobody has decided and that fit, `most` at most.
  open(most, fits = () => true) {
    const places = [];
    for (let place = this.current; place < this.items.length && places.length < most; place += 1) {
      if (!this.decisions[place] && fits(this.items[place])) places.push(place);
    }
    return places;
  }
}
