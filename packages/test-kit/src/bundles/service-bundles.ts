import { spawn } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../../../', import.meta.url));
const services = join(repository, 'services');
const script = join(repository, 'infra/build/bundle.mjs');

/** A bundle lies in its service's folder, from where what is not inlined resolves and migrations are found, as from dist/. */
const folderPrefix = '.bundle-';

/**
 * The bundles of services made for one test run from the sources as they are, each when it is first asked for. They are not
 * those in dist/: what runs from there, such as a platform or another test run, is not disturbed.
 */
export class ServiceBundles {
  readonly #made = new Map<string, Promise<string>>();
  #count = 0;

  /**
   * The main file of a service's bundle.
   *
   * @throws Error with what the bundler says is wrong
   */
  mainOf(service: string): Promise<string> {
    const made = this.#made.get(service) ?? this.#bundle(service);
    this.#made.set(service, made);
    return made;
  }

  /** The sources may have changed: who asks from now on gets new bundles. */
  forget(): void {
    this.#made.clear();
  }

  /** Removes what this process made, and what runs left behind that were killed. */
  async remove(): Promise<void> {
    await Promise.allSettled(this.#made.values());
    for (const service of await readdir(services))
      for (const name of await readdir(join(services, service)).catch(() => [] as string[]))
        if (name.startsWith(folderPrefix) && isOver(name))
          await rm(join(services, service, name), { recursive: true, force: true });
  }

  async #bundle(service: string): Promise<string> {
    this.#count += 1;
    const folder = join(services, service, `${folderPrefix}${process.pid}-${this.#count}`);
    const child = spawn(process.execPath, [script, folder], { cwd: join(services, service) });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once('error', reject).once('close', resolve),
    );
    if (code !== 0) throw new Error(`${service} could not be bundled (${code}):\n${output}`);
    return join(folder, 'main.js');
  }
}

/** True for bundles of this process and of processes that are gone. */
function isOver(folder: string): boolean {
  const pid = Number(folder.slice(folderPrefix.length).split('-')[0]);
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
