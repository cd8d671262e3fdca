import { Client } from '../load/client.ts';
import { WORKLOADS } from '../load/workloads.ts';
import { readCpuTimes } from '../observe/cpu-by-process.ts';
import type { StartedTarget } from '../targets/target.ts';

/** Parts that are not ours: what they need is decided by their makers. */
export const SERVERS: readonly string[] = ['postgres', 'redis', 'kafka'];

/** A server that the command starts, again and again. */
export interface StartedServer {
  name: string;
  start(): Promise<StartedTarget>;
}

export interface FirstAnswer {
  target: StartedTarget;
  /** Seconds from the command until the answer of a first run. */
  seconds: number;
  /** Processor seconds of its processes until then, without those of Postgres, Redis and Kafka. */
  cpuSeconds: number;
}

/** Starts a server, and gives it a first run. @param others root processes that are not counted */
export async function measureFirstAnswer({ start }: StartedServer, others: number[]): Promise<FirstAnswer> {
  const begun = performance.now();
  const target = await start();
  const client = new Client(target, 1);
  try {
    await WORKLOADS.stateless.perform(client);
    const seconds = (performance.now() - begun) / 1000;
    const times = await readCpuTimes(target.rootPid, others);
    const counted = [...times].filter(([part]) => !SERVERS.includes(part));
    return { target, seconds, cpuSeconds: counted.reduce((sum, [, ms]) => sum + ms, 0) / 1000 };
  } catch (error) {
    await target.stop();
    throw error;
  } finally {
    client.close();
  }
}
