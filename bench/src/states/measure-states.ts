import { Client, type Endpoint, readBody } from '../load/client.ts';
import { readCpuTimes } from '../observe/cpu-by-process.ts';

export interface StateTimes {
  /** Bytes of the state's JSON text, in millions. */
  megabytes: number;
  what: string;
  /** The median over the rounds. */
  seconds: number;
  /** How many times as long it takes as `JSON.parse` and `JSON.stringify` of the same text in this process. */
  timesJson: number;
  /** Processor time of each part, in seconds, in the same round. Says more than `seconds` on a busy machine. */
  cpuSeconds: Record<string, number>;
}

interface Step {
  what: string;
  seconds: number;
  cpuSeconds: Record<string, number>;
}

/**
 * Measures what writing and reading a state of each size takes, and a run whose input is as large, one request after the
 * other. Each round has a thread of its own.
 *
 * @param sizes in millions of bytes
 */
export async function measureStates(
  target: Endpoint & { rootPid: number },
  { sizes, rounds, say }: { sizes: number[]; rounds: number; say: (line: string) => void },
): Promise<StateTimes[]> {
  const client = new Client(target, 1);
  const times: StateTimes[] = [];
  try {
    // The first request of a process compiles what the others use.
    await measureRound(client, target.rootPid, createRecords(10_000));
    for (const size of sizes) {
      const records = createRecords(size * 1e6);
      const megabytes = Buffer.byteLength(JSON.stringify(records)) / 1e6;
      const measured = new Map<string, Step[]>();
      for (let round = 0; round < rounds; round += 1) {
        for (const step of await measureRound(client, target.rootPid, records)) {
          measured.set(step.what, [...(measured.get(step.what) ?? []), step]);
          say(`${megabytes.toFixed(1)} MB, ${step.what}: ${step.seconds.toFixed(2)} s ${formatCpu(step.cpuSeconds)}`);
        }
      }
      const json = medianOf(measured.get(JSON_ALONE) ?? []).seconds;
      for (const steps of measured.values()) {
        const median = medianOf(steps);
        times.push({ megabytes, ...median, timesJson: median.seconds / json });
      }
    }
    return times;
  } finally {
    client.close();
  }
}

const JSON_ALONE = 'JSON alone';

async function measureRound(client: Client, rootPid: number, records: object[]): Promise<Step[]> {
  const steps: Step[] = [];
  const measure = async <T>(what: string, work: () => T | Promise<T>): Promise<T> => {
    const before = await readCpuTimes(rootPid, []);
    const begun = performance.now();
    const result = await work();
    const seconds = (performance.now() - begun) / 1000;
    const used = [...(await readCpuTimes(rootPid, []))].map(
      ([part, ms]) => [part, (ms - (before.get(part) ?? 0)) / 1000] as const,
    );
    steps.push({ what, seconds, cpuSeconds: Object.fromEntries(used.filter(([, each]) => each > 0)) });
    return result;
  };
  const text = JSON.stringify(records);
  await measure(JSON_ALONE, () => JSON.stringify(JSON.parse(text)));
  const created = await readBody(await client.post('/threads', { metadata: { graph_id: 'echo' } }));
  const thread = `/threads/${(JSON.parse(created) as { thread_id: string }).thread_id}`;
  const update = { values: { question: records }, as_node: 'echo' };
  const write = async () => readBody(await client.post(`${thread}/state`, update));
  await measure('first write', write);
  await measure('next write', write);
  const read = await measure('read', async () => readBody(await client.get(`${thread}/state`)));
  const { values } = JSON.parse(read) as { values: { question: object[] } };
  if (JSON.stringify(values.question) !== text) throw new Error('The state that was read is not the one written.');
  const run = { assistant_id: 'echo', input: { question: records } };
  await measure('run with it as input', async () => readBody(await client.post(`${thread}/runs/wait`, run)));
  return steps;
}

/** Returns records of some 400 bytes each whose JSON text has about that many bytes together. */
function createRecords(bytes: number): object[] {
  const records: object[] = [];
  for (let index = 0, size = 0; size < bytes; index += 1) {
    const record = {
      id: `record-${index}`,
      text: `Sentence ${index * 7919} of a text that says "${(index * 104_729).toString(36)}". `.repeat(4),
      score: index / 7,
      tags: ['first', `tag-${index % 97}`, 'ünïcode'],
      author: { name: `Author ${index % 1009}`, isKnown: index % 3 === 0, since: null },
    };
    records.push(record);
    size += Buffer.byteLength(JSON.stringify(record)) + 1;
  }
  return records;
}

function medianOf(steps: Step[]): Step {
  return steps.toSorted((a, b) => a.seconds - b.seconds)[steps.length >> 1] as Step;
}

function formatCpu(seconds: Record<string, number>): string {
  const parts = Object.entries(seconds).map(([part, each]) => `${part} ${each.toFixed(1)}`);
  return parts.length === 0 ? '' : `(processor: ${parts.join(', ')})`;
}
