import type { Endpoint } from '../load/client.ts';

/** Count and sum of every histogram that measures seconds, by its name and labels. */
export type StageTimes = Map<string, { count: number; seconds: number }>;

/** Reads stage times from the servers' `/metrics`; a server that does not answer is left out. */
export async function readStageTimes(servers: Endpoint[]): Promise<StageTimes> {
  const times: StageTimes = new Map();
  for (const { url, headers } of servers) {
    const text = await fetch(`${url}/metrics`, { headers })
      .then((answer) => (answer.ok ? answer.text() : ''))
      .catch(() => '');
    for (const [, name = '', field, labels = '', value] of text.matchAll(SECONDS)) {
      const stage = times.get(name + labels) ?? { count: 0, seconds: 0 };
      if (field === 'sum') stage.seconds += Number(value);
      else stage.count += Number(value);
      times.set(name + labels, stage);
    }
  }
  return times;
}

const SECONDS = /^(\w+_seconds)_(sum|count)(\{[^}]*\})? (\S+)$/gm;
