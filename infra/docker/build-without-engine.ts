import { execFile } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { cp, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { type Instruction, parseDockerfile, type Stage } from './dockerfile.ts';

const runFile = promisify(execFile);

export interface BuiltImage {
  /** The folder that stands for the image's `/`. */
  root: string;
  /** The image's working directory, below `root`. */
  workingDirectory: string;
  environment: Record<string, string>;
  /** The program that starts the command; empty: none. */
  entrypoint: string[];
  command: string[];
}

/**
 * Does what `docker build` does with our Dockerfiles, where there is no engine: every stage is a folder, COPY copies
 * (from the files git knows or would add, less what .dockerignore names) and RUN runs in it on this machine. Commands
 * must therefore use paths relative to WORKDIR. Packages of the system are left out: this machine has its own. As an
 * engine does, it builds a stage that several images begin with once.
 */
export class ImageBuilder {
  readonly #context: string;
  readonly #work: string;
  readonly #files: Promise<string[]>;
  /** The folders of stages that copy nothing from others, by their instructions. */
  readonly #stages = new Map<string, Promise<BuiltImage>>();
  #made = 0;

  constructor(context: string) {
    this.#context = context;
    this.#work = mkdtempSync(join(tmpdir(), 'runyard-images-'));
    this.#files = contextFiles(context);
  }

  async build(dockerfile: string): Promise<BuiltImage> {
    const stages = parseDockerfile(await readFile(join(this.#context, dockerfile), 'utf8'));
    const built = new Map<string, string>();
    let image: BuiltImage | undefined;
    for (const stage of stages) {
      image = await this.#buildStage(stage, built);
      built.set(stage.name, image.root);
    }
    if (!image) throw new Error(`${dockerfile} has no FROM`);
    return { ...image, workingDirectory: join(image.root, image.workingDirectory) };
  }

  /** Removes everything that was built. */
  async close(): Promise<void> {
    await rm(this.#work, { recursive: true, force: true });
  }

  #buildStage(stage: Stage, built: ReadonlyMap<string, string>): Promise<BuiltImage> {
    const known = JSON.stringify(stage.instructions);
    const before = this.#stages.get(known);
    if (before) return before;
    const building = this.#carryOut(stage, built);
    const isAlone = !stage.instructions.some(({ text }) => text.startsWith('--from='));
    if (isAlone) this.#stages.set(known, building);
    return building;
  }

  async #carryOut({ name, instructions }: Stage, stages: ReadonlyMap<string, string>): Promise<BuiltImage> {
    this.#made += 1;
    const root = join(this.#work, `${this.#made}-${name}`);
    const image: BuiltImage = { root, workingDirectory: '/', environment: {}, entrypoint: [], command: [] };
    await mkdir(root);
    const sources = { context: this.#context, files: await this.#files, stages };
    for (const instruction of instructions) await apply(instruction, image, sources);
    return image;
  }
}

interface Sources {
  context: string;
  files: string[];
  /** The folders of earlier stages, by name. */
  stages: ReadonlyMap<string, string>;
}

async function apply({ name, text }: Instruction, image: BuiltImage, sources: Sources): Promise<void> {
  const inside = (path: string) => join(image.root, posix.resolve(image.workingDirectory, path));
  switch (name) {
    case 'WORKDIR':
      image.workingDirectory = posix.resolve(image.workingDirectory, text);
      await mkdir(inside('.'), { recursive: true });
      return;
    case 'ENV':
      for (const [, key = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) image.environment[key] = value;
      return;
    case 'RUN':
      if (text.startsWith('apt-get ')) return;
      await runFile('/bin/sh', ['-c', text], {
        cwd: inside('.'),
        env: { PATH: process.env.PATH, HOME: process.env.HOME, ...image.environment },
        maxBuffer: 64 * 1024 * 1024,
      });
      return;
    case 'COPY':
      await copy(text, inside, sources);
      return;
    case 'ENTRYPOINT':
      image.entrypoint = JSON.parse(text);
      return;
    case 'CMD':
      image.command = JSON.parse(text);
      return;
    case 'USER':
    case 'EXPOSE':
    case 'HEALTHCHECK':
      return;
    default:
      throw new Error(`${name} ${text}: no meaning without an engine`);
  }
}

async function copy(
  text: string,
  inside: (path: string) => string,
  { context, files, stages }: Sources,
): Promise<void> {
  const words = text.split(/\s+/);
  const stage = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined;
  const target = words.pop() ?? '';
  for (const source of words) {
    const destination = target.endsWith('/') ? join(inside(target), basename(source)) : inside(target);
    if (stage) {
      const from = stages.get(stage);
      if (!from) throw new Error(`COPY --from=${stage}: no such stage`);
      linkAll(join(from, source), destination);
      continue;
    }
    const chosen = files.filter((file) => file === source || file.startsWith(`${source}/`));
    if (chosen.length === 0) throw new Error(`COPY ${source}: not in the build context`);
    for (const file of chosen) {
      const place = file === source ? destination : join(destination, file.slice(source.length + 1));
      await mkdir(dirname(place), { recursive: true });
      await cp(join(context, file), place);
    }
  }
}

/** Puts a stage's file or folder into an image. Files are linked, because an image's service changes none of them. */
function linkAll(source: string, destination: string): void {
  if (!statSync(source).isDirectory()) {
    linkSync(source, destination);
    return;
  }
  mkdirSync(destination, { recursive: true });
  for (const name of readdirSync(source)) linkAll(join(source, name), join(destination, name));
}

async function contextFiles(context: string): Promise<string[]> {
  const { stdout } = await runFile('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: context,
    maxBuffer: 64 * 1024 * 1024,
  });
  const ignored = (await readFile(join(context, '.dockerignore'), 'utf8')).split('\n').filter(Boolean).map(asPattern);
  const present: string[] = [];
  for (const file of stdout.split('\0').filter(Boolean)) {
    const parts = file.split('/').map((_, index, all) => all.slice(0, index + 1).join('/'));
    if (ignored.some((pattern) => parts.some((part) => pattern.test(part)))) continue;
    if (await stat(join(context, file)).catch(() => null)) present.push(file);
  }
  return present;
}

/** Converts a line of .dockerignore, of which we use names, `*` and a leading double star. */
function asPattern(line: string): RegExp {
  const literal = line.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replace(/^\*\*\//, '(.*/)?').replace(/(?<!\.)\*/g, '[^/]*')}$`);
}
