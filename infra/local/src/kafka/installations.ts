import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findOnPath } from '../find-binary.ts';
import { InfrastructureError, reasonOf } from '../infrastructure-error.ts';
import { downloadLibraries, hasLibraries } from '../maven.ts';
import { runProgram } from '../run-program.ts';
import type { Origin, ServerContext } from '../server-context.ts';

/** A Java runtime and the folder with Kafka's libraries. */
export interface KafkaInstallation {
  origin: Origin;
  java: string;
  /** The answer of the runtime to `-version`, which names its vendor and build. */
  javaVersion: string;
  libraries: string;
}

const oldestJava = 17;
const LIBRARIES = { name: 'Kafka', pom: 'kafka/pom.xml' };

/**
 * Returns a Kafka 4 distribution on the PATH, else the libraries from the Maven registry; else the reason why there is
 * none.
 */
export async function findKafka(context: ServerContext): Promise<KafkaInstallation | { missing: string }> {
  const java = await findJava(context.environment);
  if ('missing' in java) return java;
  const installed = await findInstalledLibraries(context.environment);
  if (installed) return { origin: 'machine', ...java, libraries: installed };
  try {
    const libraries = await downloadLibraries({ ...context, ...LIBRARIES });
    return { origin: 'registry', ...java, libraries };
  } catch (error) {
    if (error instanceof InfrastructureError) return { missing: reasonOf(error) };
    throw error;
  }
}

/**
 * Returns which Kafka a start would use, in words, else the reason why there is none. It fetches nothing.
 */
export async function lookForInstalledKafka(
  environment: NodeJS.ProcessEnv,
): Promise<{ found: string } | { missing: string }> {
  const java = await findJava(environment);
  if ('missing' in java) return java;
  const installed = await findInstalledLibraries(environment);
  if (installed) return { found: `in ${installed}, by ${java.java}` };
  if (await hasLibraries(LIBRARIES, environment)) return { found: `in the cache, by ${java.java}` };
  const maven = await findOnPath('mvn', environment);
  if (!maven) return { missing: 'Maven (mvn) is not on the PATH' };
  return { found: `by ${maven} at the first start, and ${java.java}` };
}

async function findJava(
  environment: NodeJS.ProcessEnv,
): Promise<Pick<KafkaInstallation, 'java' | 'javaVersion'> | { missing: string }> {
  const home = environment.JAVA_HOME;
  const java = home ? join(home, 'bin/java') : await findOnPath('java', environment);
  if (!java) return { missing: `Java ${oldestJava} is not on the PATH` };
  const { ok, stderr } = await runProgram(java, ['-version'], { timeoutMs: 20_000 });
  const major = Number(/version "(\d+)/.exec(stderr)?.[1]);
  if (!ok || !(major >= oldestJava))
    return { missing: `Java ${oldestJava} or newer is needed, found ${major || 'none'}` };
  return { java, javaVersion: stderr };
}

/** Returns the `libs` folder beside a `kafka-server-start.sh` on the PATH, when it is Kafka 4. */
async function findInstalledLibraries(environment: NodeJS.ProcessEnv): Promise<string | null> {
  const script =
    (await findOnPath('kafka-server-start.sh', environment)) ?? (await findOnPath('kafka-server-start', environment));
  if (!script) return null;
  const libraries = join(dirname(script), '../libs');
  const names = await readdir(libraries).catch(() => []);
  return names.some((name) => /^kafka_2\.13-([4-9]|\d\d)\./.test(name)) ? libraries : null;
}
