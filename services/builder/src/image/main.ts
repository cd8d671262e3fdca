/**
 * Installs the project of an image while that is built: `runyard-agent install`, as Dockerfiles of `runyard build` have
 * it. It is the only program of this service that runs outside of it, as whoever builds the image.
 *
 * - `--ahead`: before the project's code is there, with the files alone that name packages. What cannot be installed so
 *   is left to the line that has the code.
 * - `--install-command`, `--build-command`: those of the project's author.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BuildError } from '@runyard/deployments';
import { GraphLoadError } from '@runyard/host-protocol';
import { ProjectError } from '@runyard/package-managers';
import { BuildCommands } from '../commands/build-commands.ts';
import { buildEnvironment } from '../commands/build-environment.ts';
import { installAhead, installProject } from '../install/install-project.ts';
import { JavaScriptPackages } from '../install/javascript-packages.ts';

/** Stays in the image, where the environment of the project needs it. */
const PYTHONS_FOLDER = '/opt/pythons';

/** The status of programs that are called wrongly, by sysexits.h. */
const WRONG_USE = 64;

const flags = readFlags();
try {
  await install(resolve(process.env.PROJECT_DIR ?? '.'), process.env.LANGGRAPH_CONFIG_PATH ?? 'langgraph.json');
} catch (error) {
  if (!isOfProject(error)) throw error;
  say(error.message);
  process.exitCode = 1;
}

function readFlags() {
  try {
    const { values } = parseArgs({
      options: {
        ahead: { type: 'boolean', default: false },
        'install-command': { type: 'string' },
        'build-command': { type: 'string' },
      },
    });
    return values;
  } catch (error) {
    say((error as Error).message);
    process.exit(WRONG_USE);
  }
}

async function install(root: string, configName: string): Promise<void> {
  const temporary = await mkdtemp(join(tmpdir(), 'runyard-install-'));
  try {
    const folders = { home: join(temporary, 'home'), cache: join(temporary, 'cache') };
    // Whoever builds the image says what its commands see, registries and their passwords included.
    const { NODE_ENV: _, VIRTUAL_ENV: __, ...given } = process.env as Record<string, string>;
    const environment = { ...given, ...(await buildEnvironment(folders, given)) };
    const commands = new BuildCommands({
      ...{ root, folders, environment, user: null, limits: null, log: { write: say } },
      signal: new AbortController().signal,
    });
    const toolsFolder = join(temporary, 'tools');
    const packages = new JavaScriptPackages(commands, toolsFolder);
    const configPath = resolve(root, configName);
    const options = {
      ...{ root, configPath, commands, packages, toolsFolder, pythons: [], path: environment.PATH ?? '' },
      installCommand: flags['install-command'] ?? null,
      image: { pythonsFolder: PYTHONS_FOLDER },
    };
    if (flags.ahead) return await beginWith(options);
    await installProject(options);
    const buildCommand = flags['build-command'];
    if (buildCommand !== undefined) await packages.runOwn(buildCommand, dirname(configPath));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function beginWith(options: Parameters<typeof installAhead>[0]): Promise<void> {
  try {
    await installAhead(options);
  } catch (error) {
    if (!isOfProject(error)) throw error;
    say(`It is installed with the project's code, and not before: ${error.message}`);
  }
}

function isOfProject(error: unknown): error is Error {
  return error instanceof BuildError || error instanceof ProjectError || error instanceof GraphLoadError;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
