const MASK = '***';
/** Shorter values are words of everyday text: masking them would hide more than it protects. */
const SHORTEST = 6;

/** How a character looks inside JSON, also inside JSON inside JSON. */
const SHORT_ESCAPES: Record<string, string> = { '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f' };

/** A longer pattern would be too much for its compiler: the value is then looked for in pieces. */
const PATTERN_RUNS = 512;

/** From, and up to before. */
type Range = [start: number, end: number];
type Find = (text: string) => Range[];

/**
 * A function that masks these values wherever they stand in a text: as they are, or with some of their characters escaped as
 * JSON does it. A value of several lines is masked line by line, because that is how it is printed.
 */
export function secretMask(values: Iterable<string>): (text: string) => string {
  const searches = [...new Set([...values].flatMap(partsOf))].flatMap(searchesFor);
  return (text) => {
    // All are looked for in the text as it is: a value that overlaps one already masked would not be found.
    const found = searches.flatMap((find) => find(text));
    return found.length === 0 ? text : without(text, found);
  };
}

function partsOf(value: string): string[] {
  const lines = value.includes('\n') ? value.split(/\r?\n/).map((line) => line.trim()) : [];
  return [value, ...lines].filter((part) => part.length >= SHORTEST);
}

/** Most values look the same everywhere, and plain search is many times quicker than a pattern. */
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

/** A run of backslashes is one pattern: several in a row could share the same backslashes in too many ways. */
const RUNS = /\\+|[^\\]/gs;

function runSource(run: string): string {
  if (run.startsWith('\\')) return `\\\\{${run.length},${4 * run.length}}`;
  if (run === '"' || run === '/') return `\\\\{0,3}${run}`;
  if (/[\x20-\x7e]/.test(run)) return run.replace(/[.*+?^${}()|[\]-]/, '\\$&');
  const code = run.charCodeAt(0).toString(16).padStart(4, '0');
  const escaped = [SHORT_ESCAPES[run], `u(?:${code}|${code.toUpperCase()})`].filter(Boolean).join('|');
  return `(?:\\u${code}|\\\\{1,4}(?:${escaped}))`;
}

/** Ranges that touch or overlap are one. */
function without(text: string, ranges: Range[]): string {
  let masked = '';
  let end = -1;
  for (const [from, to] of ranges.sort(([one], [other]) => one - other)) {
    if (from > end) masked += text.slice(Math.max(end, 0), from) + MASK;
    end = Math.max(end, to);
  }
  return masked + text.slice(Math.max(end, 0));
}
