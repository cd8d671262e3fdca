import type { QueryKind } from './queries.ts';

export interface QueryTimes {
  name: string;
  p50Ms: number;
  p95Ms: number;
  worstMs: number;
}

const WARM_UP = 15;
const MEASURED = 150;

/** Sends one request after the other and measures each to the last byte of the answer. @throws Error when one fails */
export async function measureQueries(
  url: string,
  kinds: QueryKind[],
  say: (line: string) => void,
): Promise<QueryTimes[]> {
  const all: QueryTimes[] = [];
  for (const kind of kinds) {
    const times: number[] = [];
    for (let n = 0; n < WARM_UP + MEASURED; n += 1) {
      const began = performance.now();
      await measureRequest(url, kind);
      if (n >= WARM_UP) times.push(performance.now() - began);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
    const measured = { name: kind.name, p50Ms: at(0.5), p95Ms: at(0.95), worstMs: times.at(-1)! };
    all.push(measured);
    say(`${kind.name}: p50 ${measured.p50Ms.toFixed(1)} ms, p95 ${measured.p95Ms.toFixed(1)} ms`);
  }
  return all;
}

async function measureRequest(url: string, kind: QueryKind): Promise<void> {
  const { method, path, body } = kind.request();
  const answer = await fetch(url + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${kind.name}: ${answer.status} ${text.slice(0, 300)}`);
}
