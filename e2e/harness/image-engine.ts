import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { ImageClient } from '@runyard/test-kit';

/** Reports its arguments, and prints and ends with what the engine answers. */
const COMMAND = `#!${process.execPath}
const args = process.argv.slice(2);
const input = args.includes('login') || args.includes('build') ? require('node:fs').readFileSync(0, 'utf8') : '';
fetch('URL', { method: 'POST', body: JSON.stringify({ args, input }) })
  .then((answer) => answer.json())
  .then(({ code, said }) => { process.stdout.write(said); process.exitCode = code; });
`;

interface Call {
  args: string[];
  input: string;
}

/**
 * A `docker` for the front of a PATH, where there is no engine: it builds nothing, and pushes an image of one layer
 * over HTTP, with the credential of the configuration folder it is given.
 */
export class ImageEngine {
  readonly #folder: string;
  readonly #server: Server;
  readonly #digests = new Map<string, string>();
  /** Calls without their options. */
  readonly calls: string[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
    this.#server = createServer(async (req, res) => {
      const answer = await this.#answer((await json(req)) as Call).then(
        (said) => ({ code: 0, said }),
        (error: unknown) => ({ code: 1, said: String(error) }),
      );
      res.end(JSON.stringify(answer));
    });
  }

  static async open(): Promise<ImageEngine> {
    const engine = new ImageEngine(await mkdtemp(path.join(tmpdir(), 'runyard-engine-')));
    await new Promise<void>((resolve) => engine.#server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(engine.#server.address() as AddressInfo).port}`;
    const command = path.join(engine.#folder, 'docker');
    await writeFile(command, COMMAND.replace('URL', url));
    await chmod(command, 0o755);
    return engine;
  }

  get path(): string {
    return `${this.#folder}${path.delimiter}${process.env.PATH}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** @returns its output. @throws when it fails */
  async #answer({ args, input }: Call): Promise<string> {
    const words = args.filter((word, index) => !isOption(word) && !isOption(args[index - 1]));
    this.calls.push(words.join(' '));
    const config = args[args.indexOf('--config') + 1];
    const image = words.at(-1) as string;
    if (words[0] === 'login') return this.#login(config as string, input.trim());
    if (words[0] === 'push') await this.#push(config as string, image);
    if (words[0] !== 'image') return '';
    const digest = this.#digests.get(image);
    return JSON.stringify(digest === undefined ? [] : [`${repositoryOf(image)}@${digest}`]);
  }

  async #login(config: string, password: string): Promise<string> {
    const known = await passwordIn(config);
    if (known !== undefined && known !== password) throw new Error('the two passwords are not the same');
    return 'Login Succeeded';
  }

  async #push(config: string, image: string): Promise<void> {
    const password = await passwordIn(config);
    if (password === undefined) throw new Error(`${config} has no credential`);
    const [, host = '', repository = '', tag = ''] = /^([^/]+)\/(.+):([^:/]+)$/.exec(image) ?? [];
    const client = new ImageClient(`http://${host}`, password);
    this.#digests.set(image, await client.pushImage(repository, tag, Buffer.from(image)));
  }
}

const isOption = (word: string | undefined) => word === '--config' || word === '--host' || word === '--format';

const repositoryOf = (image: string) => image.slice(0, image.lastIndexOf(':'));

/** Returns the password of the only registry in a configuration folder. */
async function passwordIn(folder: string): Promise<string | undefined> {
  const text = await readFile(path.join(folder, 'config.json'), 'utf8').catch(() => '{}');
  const { auths = {} } = JSON.parse(text) as { auths?: Record<string, { auth: string }> };
  const [entry] = Object.values(auths);
  return (
    entry &&
    Buffer.from(entry.auth, 'base64')
      .toString('utf8')
      .replace(/^[^:]*:/, '')
  );
}
