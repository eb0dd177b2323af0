// Occupations by parts of words, in any order: each part begins a word of one of their titles.
// First whole titles, then labels, then other titles, then parts found in several titles of one
// occupation, then parts within words; shorter titles before longer ones.

const folded = (text) =>
  text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[^\p{L}\p{N}+#.]+/gu, " ");

class Search {
  constructor(occupations) {
    this.occupations = occupations;
    this.known = null;
  }

  // Fold every title once; of 30,000 it takes some 50 ms, and is done before it is needed.
  prepare() {
    this.known ??= this.occupations.map((_, occupation) => {
      const titles = this.written(occupation).map((title) => ` ${folded(title).trim()}`);
      return { titles, all: titles.join("\n") };
    });
  }

  // The label, and then the other titles.
  written(occupation) {
    const [, label, aliases] = this.occupations[occupation];
    return [label, ...aliases.filter((alias) => alias !== label)];
  }

  // Return [occupation, title that fits] of the best `most`.
  find(query, most) {
    this.prepare();
    const parts = [...new Set(folded(query).split(" ").filter(Boolean))];
    if (!parts.length) return [];
    const begun = this.ranked(parts.map((part) => ` ${part}`));
    const hits = begun.length ? begun : this.ranked(parts);
    hits.sort((one, other) => one.rank - other.rank || one.occupation - other.occupation);
    return hits.slice(0, most).map(({ occupation, title }) => [
      occupation,
      this.written(occupation)[title],
    ]);
  }

  // Only what has every part somewhere is looked at title by title.
  ranked(parts) {
    const hits = [];
    this.known.forEach(({ titles, all }, occupation) => {
      if (parts.every((part) => all.includes(part))) hits.push({ occupation, ...fit(titles, parts) });
    });
    return hits;
  }
}

const KIND = 10_000; // more than a title has characters

// Return the rank of the title that fits best, and its place.
function fit(titles, parts) {
  const whole = parts.reduce((sum, part) => sum + part.length, 0);
  let best = { rank: 3 * KIND, title: 0 };
  titles.forEach((title, place) => {
    if (!parts.every((part) => title.includes(part))) return;
    const kind = title.length === whole ? 0 : place === 0 ? 1 : 2;
    const rank = kind * KIND + title.length;
    if (rank < best.rank) best = { rank, title: place };
  });
  return best;
}
