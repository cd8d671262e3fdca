import type { Answer } from './recorded-client.ts';

export interface Difference {
  /** The request, with its ids named: `GET /threads/ID/state`. */
  request: string;
  /** The place in its body: `tasks.name`, of whichever task. */
  place: string;
  ours: unknown;
  theirs: unknown;
}

/** Ids, among them those of 32 digits that LangGraph hashes. */
const IDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g;
const BODY = 'the whole body';
const STATUS = 'the HTTP status';
const TIMES = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)/g;

/**
 * Returns where the answers of two servers to the same requests differ. Ids are the same when each stands for the other
 * in all answers, and times are the same where both have one.
 *
 * @param written texts like times that the graphs wrote, which have to be equal
 */
export function compare(
  ours: readonly Answer[],
  theirs: readonly Answer[],
  written: readonly string[] = [],
): Difference[] {
  const pairs = new Map<string, string>();
  const paired = new Map<string, string>();
  const isPair = (a: string, b: string) => {
    if (!pairs.has(a) && !paired.has(b)) {
      pairs.set(a, b);
      paired.set(b, a);
    }
    return pairs.get(a) === b;
  };
  const isSameText = (a: string, b: string) => {
    if (a === b) return true;
    if (shapeOf(a, written) !== shapeOf(b, written)) return false;
    const ids = b.match(IDS) ?? [];
    return (a.match(IDS) ?? []).every((id, index) => isPair(id, ids[index] as string));
  };

  const differences: Difference[] = [];
  const walk = (request: string, place: string, a: unknown, b: unknown) => {
    if (Object.is(a, b) || (typeof a === 'string' && typeof b === 'string' && isSameText(a, b))) return;
    if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) {
      differences.push({ request, place, ours: a, theirs: b });
      return;
    }
    const unmatched = new Set(Object.keys(b));
    const below = (key: string) => {
      if (Array.isArray(a)) return place;
      const name = key.replace(IDS, 'ID');
      return place === BODY ? name : `${place}.${name}`;
    };
    for (const key of Object.keys(a)) {
      const match = unmatched.has(key) ? key : [...unmatched].find((other) => !(other in a) && isSameText(key, other));
      if (match !== undefined) unmatched.delete(match);
      walk(request, below(key), a[key], match === undefined ? undefined : b[match]);
    }
    for (const key of unmatched) walk(request, below(key), undefined, b[key]);
  };
  for (let index = 0; index < Math.max(ours.length, theirs.length); index += 1) {
    const [our, their] = [ours[index], theirs[index]];
    const request = (our ?? their)?.request.replace(IDS, 'ID') ?? '';
    walk(request, STATUS, our?.status, their?.status);
    walk(request, BODY, our?.body, their?.body);
  }
  return differences;
}

/** A text without its ids and times. */
function shapeOf(text: string, written: readonly string[]): string {
  return written.includes(text) ? text : text.replace(IDS, '<id>').replace(TIMES, '<time>');
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object';
}
