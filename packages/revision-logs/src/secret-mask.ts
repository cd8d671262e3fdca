const MASK = '***';
/** Shorter values occur in ordinary text: masking them would hide more than it protects. */
const SHORTEST = 6;

/** The short escapes of characters in JSON, also in JSON inside JSON. */
const SHORT_ESCAPES: Record<string, string> = { '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f' };

/** Longer patterns are too large for the compiler, so a long value is searched in pieces. */
const PATTERN_RUNS = 512;

/** The start, inclusive, and the end, exclusive. */
type Range = [start: number, end: number];
type Find = (text: string) => Range[];

/**
 * Returns a function that masks these values anywhere in a text, plain or with characters escaped as in JSON. A value
 * of several lines is also masked line by line, because it is printed that way.
 */
export function secretMask(values: Iterable<string>): (text: string) => string {
  const searches = [...new Set([...values].flatMap(partsOf))].flatMap(searchesFor);
  return (text) => {
    // All values are searched in the original text, since overlapping values would not be found after masking.
    const found = searches.flatMap((find) => find(text));
    return found.length === 0 ? text : maskRanges(text, found);
  };
}

function partsOf(value: string): string[] {
  const lines = value.includes('\n') ? value.split(/\r?\n/).map((line) => line.trim()) : [];
  return [value, ...lines].filter((part) => part.length >= SHORTEST);
}

/** Most values have no characters to escape. Plain search is many times faster than a pattern. */
function searchesFor(part: string): Find[] {
  if (/^[\x20-\x7e]+$/.test(part) && !/["\\/]/.test(part)) return [(text) => plainRanges(text, part)];
  const runs = part.match(RUNS) ?? [];
  const size = Math.ceil(runs.length / Math.ceil(runs.length / PATTERN_RUNS));
  const pieces = Array.from({ length: Math.ceil(runs.length / size) }, (_, index) =>
    runs.slice(index * size, (index + 1) * size),
  );
  return pieces.map((piece) => {
    const pattern = new RegExp(piece.map(runSource).join(''), 'g');
    return (text) => Array.from(text.matchAll(pattern), (match) => [match.index, match.index + match[0].length]);
  });
}

function plainRanges(text: string, part: string): Range[] {
  const ranges: Range[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    ranges.push([at, at + part.length]);
  }
  return ranges;
}

/** Treats a run of backslashes as one pattern. Several in a row would make matching exponential. */
const RUNS = /\\+|[^\\]/gs;

function runSource(run: string): string {
  if (run.startsWith('\\')) return `\\\\{${run.length},${4 * run.length}}`;
  if (run === '"' || run === '/') return `\\\\{0,3}${run}`;
  if (/[\x20-\x7e]/.test(run)) return run.replace(/[.*+?^${}()|[\]-]/, '\\$&');
  const code = run.charCodeAt(0).toString(16).padStart(4, '0');
  const escaped = [SHORT_ESCAPES[run], `u(?:${code}|${code.toUpperCase()})`].filter(Boolean).join('|');
  return `(?:\\u${code}|\\\\{1,4}(?:${escaped}))`;
}

/** Replaces the ranges by the mask. Ranges that touch or overlap become one. */
function maskRanges(text: string, ranges: Range[]): string {
  let masked = '';
  let end = -1;
  for (const [from, to] of ranges.sort(([one], [other]) => one - other)) {
    if (from > end) masked += text.slice(Math.max(end, 0), from) + MASK;
    end = Math.max(end, to);
  }
  return masked + text.slice(Math.max(end, 0));
}
