import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { type Instruction, parseDockerfile } from './dockerfile.ts';

const runFile = promisify(execFile);

export interface BuiltImage {
  /** Stands for the image's `/`. */
  root: string;
  /** The image's working directory, below `root`. */
  workingDirectory: string;
  environment: Record<string, string>;
  command: string[];
}

/**
 * Does what `docker build` does with our Dockerfiles, where there is no engine: every stage is a folder, COPY copies (from the
 * files git knows or would add, less what .dockerignore names) and RUN runs in it on this machine. Commands must therefore use
 * paths relative to WORKDIR.
 */
export async function buildWithoutEngine(context: string, dockerfile: string): Promise<BuiltImage> {
  const work = await mkdtemp(join(tmpdir(), 'runyard-image-'));
  try {
    return await buildIn(work, context, dockerfile);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    throw error;
  }
}

async function buildIn(work: string, context: string, dockerfile: string): Promise<BuiltImage> {
  const files = await contextFiles(context);
  let image: BuiltImage | undefined;
  for (const stage of parseDockerfile(await readFile(join(context, dockerfile), 'utf8'))) {
    image = { root: join(work, stage.name), workingDirectory: '/', environment: {}, command: [] };
    await mkdir(image.root);
    for (const instruction of stage.instructions) await apply(instruction, image, { context, files, work });
  }
  if (!image) throw new Error(`${dockerfile} has no FROM`);
  return { ...image, workingDirectory: join(image.root, image.workingDirectory) };
}

interface Sources {
  context: string;
  files: string[];
  work: string;
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
      await runFile('/bin/sh', ['-c', text], {
        cwd: inside('.'),
        env: { PATH: process.env.PATH, HOME: process.env.HOME, ...image.environment },
        maxBuffer: 64 * 1024 * 1024,
      });
      return;
    case 'COPY':
      await copy(text, inside, sources);
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

async function copy(text: string, inside: (path: string) => string, { context, files, work }: Sources): Promise<void> {
  const words = text.split(/\s+/);
  const stage = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined;
  const target = words.pop() ?? '';
  for (const source of words) {
    const destination = target.endsWith('/') ? join(inside(target), basename(source)) : inside(target);
    if (stage) {
      await cp(join(work, stage, source), destination, { recursive: true });
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

/** A line of .dockerignore, of which we use names, `*` and a leading double star. */
function asPattern(line: string): RegExp {
  const literal = line.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replace(/^\*\*\//, '(.*/)?').replace(/(?<!\.)\*/g, '[^/]*')}$`);
}
