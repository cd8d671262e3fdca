import { arch } from 'node:os';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

/** Base image of deployments; docs/images.md says how it is built. */
export const BASE_IMAGE = 'runyard/agent-server:20';
const PLATFORM = 'linux/amd64';

export interface BuildSettings {
  /** The platform that the image is for, or several with commas between them. Default: that of deployments. */
  platform?: string | undefined;
  /** True to ask the registry for a newer base image. */
  pull?: boolean | undefined;
  /** Further arguments of `docker build`. */
  args?: readonly string[] | undefined;
}

/** The container engine of this machine, called by its `docker` command. */
export class Engine {
  readonly #context: Pick<CommandContext, 'env' | 'interrupted'>;

  constructor(context: Pick<CommandContext, 'env' | 'interrupted'>) {
    this.#context = context;
  }

  /** Returns a sentence why no image can be built from the base on this machine, or null. */
  async obstacle(baseImage: string | undefined, platform: string = PLATFORM): Promise<string | null> {
    if ((await this.#run(['info', '--format', '{{.ServerVersion}}'])).code !== 0) {
      return 'no container engine runs on this machine.';
    }
    if (!isOfThisMachine(platform) && (await this.#run(['buildx', 'version'])).code !== 0) {
      return `images are for ${platform}, and the engine of this machine has no buildx to build them.`;
    }
    // A named base image is pulled when it is missing; the default one is not, because nobody publishes it.
    const isHere = baseImage !== undefined || (await this.#run(['image', 'inspect', BASE_IMAGE])).code === 0;
    return isHere
      ? null
      : `the image ${BASE_IMAGE} is not on this machine (docs/images.md; --base-image names another).`;
  }

  /** @throws CliError with the last lines, when the build fails */
  async build(
    options: BuildSettings & { folder: string; dockerfile: string; tag: string; onLine: (line: string) => void },
  ) {
    const { folder, dockerfile, tag, onLine, platform = PLATFORM, pull = false, args = [] } = options;
    const command = [...buildCommand(platform, args), ...(pull ? ['--pull'] : []), ...args];
    // The lines of the build were reported as they came.
    const { code } = await this.#run([...command, '-f', '-', '-t', tag, folder], { input: dockerfile, onLine });
    if (code !== 0) throw new CliError(`The image could not be built (docker build: ${code}).`);
  }

  async tag(image: string, name: string): Promise<void> {
    await this.#mustRun(['tag', image, name]);
  }

  async login(options: { host: string; username: string; password: string; configDir: string }): Promise<void> {
    const { host, username, password, configDir } = options;
    const args = ['--config', configDir, 'login', '-u', username, '--password-stdin', host];
    await this.#mustRun(args, { input: password, env: await this.#sameEngine() });
  }

  async push(options: { image: string; configDir: string; onLine?: (line: string) => void }): Promise<ProgramResult> {
    const { image, configDir, onLine } = options;
    const env = await this.#sameEngine();
    return this.#run(['--config', configDir, 'push', image], { env, ...(onLine && { onLine }) });
  }

  /** Returns the name of a pushed image by its digest; undefined when the engine does not know it. */
  async digestOf(image: string): Promise<string | undefined> {
    const repository = image.slice(0, image.lastIndexOf(':'));
    const { code, stdout } = await this.#run(['image', 'inspect', '--format', '{{json .RepoDigests}}', image]);
    const digests = code === 0 ? (JSON.parse(stdout || '[]') as string[] | null) : [];
    return digests?.find((digest) => digest.startsWith(`${repository}@sha256:`));
  }

  async untag(name: string): Promise<void> {
    await this.#run(['image', 'rm', name]);
  }

  /** Sets DOCKER_HOST, because with another configuration folder the command would not know the current engine. */
  async #sameEngine(): Promise<Record<string, string | undefined>> {
    const { env } = this.#context;
    if (env.DOCKER_HOST) return env;
    const { code, stdout } = await this.#run(['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}']);
    const host = stdout.trim();
    return code === 0 && host ? { ...env, DOCKER_HOST: host } : env;
  }

  async #mustRun(args: string[], options: { input?: string; env?: Record<string, string | undefined> } = {}) {
    const { code, lastLines } = await this.#run(args, options);
    if (code === 0) return;
    const words = args.filter((arg, index) => arg !== '--config' && args[index - 1] !== '--config');
    throw new CliError(`docker ${words.join(' ')} ended with ${code}:\n${lastLines.join('\n')}`);
  }

  #run(
    args: string[],
    options: { input?: string; env?: Record<string, string | undefined>; onLine?: (line: string) => void } = {},
  ): Promise<ProgramResult> {
    return runProgram('docker', args, { ...this.#context, ...options });
  }
}

function isOfThisMachine(platform: string): boolean {
  return platform === `linux/${arch() === 'x64' ? 'amd64' : arch()}`;
}

/** Returns the command of a build. buildx keeps an image for itself, unless it is told where the image goes. */
function buildCommand(platform: string, args: readonly string[]): string[] {
  if (isOfThisMachine(platform)) return ['build'];
  const hasOutput = args.some((arg) => /^(--push|--load|--output|-o)(=|$)/.test(arg));
  return ['buildx', 'build', '--platform', platform, ...(hasOutput ? [] : ['--load'])];
}
