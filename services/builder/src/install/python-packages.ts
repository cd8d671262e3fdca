import { join } from 'node:path';
import { BuildError } from '@runyard/deployments';
import {
  checkLangGraph,
  chooseInterpreter,
  describeCommand,
  exists,
  fetchUv,
  findCandidates,
  type Interpreter,
  installCommand,
  LANGGRAPH_CONSTRAINT,
  missingCompanions,
  moveCommand,
  type ProjectPlace,
  type PythonInstaller,
  parseDescriptions,
  parseReleases,
  planSteps,
  planStepsAhead,
  quote,
} from '@runyard/package-managers';
import type { PythonSettings } from '@runyard/project';
import type { BuildCommands } from '../commands/build-commands.ts';
import { downloadPython } from './python-download.ts';

export interface PythonPackagesOptions {
  commands: BuildCommands;
  settings: PythonSettings;
  /** The folder of the source. */
  root: string;
  /** That of `langgraph.json`, whose environment is made in `.venv`. */
  directory: string;
  toolsFolder: string;
  /** The operator's Pythons: absolute paths. */
  pythons: readonly string[];
  /** The PATH of the commands. */
  path: string;
  /** For images, whose layers are made one after the other. */
  image?: {
    /** Gets the Python that the project wants and the image does not have. */
    pythonsFolder: string;
  };
}

/** Files in the home of the build, as words of the shell. */
const CONSTRAINTS = '"$HOME/constraints.txt"';
const LISTED = '"$HOME/listed.txt"';
const INSTALLED = '"$HOME/installed.txt"';
/** Says that the environment is that of `installAhead`. */
const BEGUN = '.venv/.runyard-begun';
const TOOLS: Record<PythonInstaller, string> = { uv: 'uv pip', pip: 'python -m pip' };
/** Warnings about requirements that contradict each other. */
const CONFLICTS_MAX = 20;

/** Installs the packages of a project in Python into an environment of its own. */
export class PythonPackages {
  readonly #options: PythonPackagesOptions;

  constructor(options: PythonPackagesOptions) {
    this.#options = options;
  }

  /**
   * @param installation the author's own command, in place of what `langgraph.json` says; null for none
   * @throws BuildError or ProjectError
   */
  async install(installation: string | null): Promise<void> {
    const { commands, root, directory, image } = this.#options;
    const { interpreter, hasUv } = await this.#find();
    const installer = await this.#chooseInstaller(interpreter, hasUv);
    const isBegun = image !== undefined && (await exists(join(directory, BEGUN)));
    await this.#makeEnvironment(interpreter, installer, { isBegun, hasOwn: installation !== null });
    if (installation === null) await this.#installNamed(interpreter, installer);
    else await commands.run(installation, root);
    await this.#addCompanions(installer);
    await commands.ask(moveCommand(interpreter.path, root), directory);
  }

  /**
   * Begins the environment of an image with what only needs the files that name packages, so that this layer stays when
   * other files change. `install` goes on with it.
   *
   * @throws BuildError or ProjectError
   */
  async installAhead(): Promise<void> {
    const { commands, settings, directory } = this.#options;
    const { interpreter, hasUv } = await this.#find();
    if ((await this.#chooseInstaller(interpreter, hasUv)) !== 'uv') return;
    await this.#makeEnvironment(interpreter, 'uv', { isBegun: false, hasOwn: false });
    await commands.ask(`touch ${BEGUN}`, directory);
    for (const { command, folder } of await planStepsAhead(settings, this.#placeOf(interpreter))) {
      await commands.run(command, folder);
    }
  }

  /** Finds what the user of the build may run. */
  async #find(): Promise<{ interpreter: Interpreter; hasUv: boolean }> {
    const { commands, settings, directory, pythons, path, image } = this.#options;
    const { version } = settings;
    const candidates = await findCandidates(pythons, path);
    const { interpreters, hasUv } = parseDescriptions(await commands.ask(describeCommand(candidates), directory));
    if (image && hasUv && version !== null && !interpreters.some((each) => each.version === version)) {
      return {
        interpreter: await downloadPython(version, { commands, folder: image.pythonsFolder, directory }),
        hasUv,
      };
    }
    return { interpreter: chooseInterpreter(interpreters, version), hasUv };
  }

  async #chooseInstaller(interpreter: Interpreter, hasUv: boolean): Promise<PythonInstaller> {
    const { commands, settings, toolsFolder } = this.#options;
    const { installer, pipConfigFile, lock } = settings;
    // uv does not read the settings of pip.
    if (installer === 'pip' || (installer === 'auto' && pipConfigFile !== null && lock === null)) return 'pip';
    if (hasUv) return 'uv';
    try {
      const programs = await fetchUv(interpreter, toolsFolder, async (command, folder) => {
        commands.say('Fetching uv');
        await commands.fetch(command, folder);
      });
      commands.useTool(programs);
      return 'uv';
    } catch (error) {
      if (!(error instanceof BuildError) || installer === 'uv' || lock !== null) throw error;
      commands.say(`uv could not be fetched, so pip installs: ${error.message}`, 'WARNING');
      return 'pip';
    }
  }

  /** Makes the environment, which commands use from then on. */
  async #makeEnvironment(
    { version, path }: Interpreter,
    installer: PythonInstaller,
    { isBegun, hasOwn }: { isBegun: boolean; hasOwn: boolean },
  ): Promise<void> {
    const { commands, directory, settings } = this.#options;
    const environment = join(directory, '.venv');
    commands.say(`Python ${version}, and ${installer} installs`);
    // An environment that the source brings was made on another machine.
    const make = {
      uv: `uv venv -q --relocatable --no-project${hasOwn ? ' --seed' : ''} --python ${quote(path)}`,
      pip: `${quote(path)} -m venv`,
    };
    if (!isBegun) await commands.ask(`rm -rf .venv && ${make[installer]} .venv`, directory);
    await commands.ask(`echo ${quote(LANGGRAPH_CONSTRAINT)} > ${CONSTRAINTS}`, directory);
    commands.useTool(join(environment, 'bin'));
    commands.set({
      VIRTUAL_ENV: environment,
      UV_PROJECT_ENVIRONMENT: environment,
      ...(settings.pipConfigFile !== null && { PIP_CONFIG_FILE: settings.pipConfigFile }),
    });
  }

  async #installNamed(interpreter: Interpreter, installer: PythonInstaller): Promise<void> {
    const { commands, settings } = this.#options;
    const steps = await planSteps(settings, installer, this.#placeOf(interpreter));
    if (settings.lock === null && settings.requirements.length + settings.folders.length === 0) {
      commands.say('The project has no "dependencies"; nothing is installed beside langgraph.', 'WARNING');
    }
    for (const { command, folder } of steps) await this.#runInstall(command, folder);
  }

  #placeOf({ version }: Interpreter): ProjectPlace {
    const { root, directory } = this.#options;
    return { root, directory, version, constraints: CONSTRAINTS };
  }

  /** Adds what projects rely on without naming it, and changes nothing that the project has. */
  async #addCompanions(installer: PythonInstaller): Promise<void> {
    const { commands, settings, directory } = this.#options;
    const list = `${TOOLS[installer]} list --format freeze > ${LISTED}`;
    const keep = `{ grep '^[A-Za-z0-9._-]*==' ${LISTED} > ${INSTALLED} || true; }`;
    const installed = parseReleases(await commands.ask(`${list} && ${keep} && cat ${INSTALLED}`, directory));
    checkLangGraph(installed);
    const wanted = [...missingCompanions(installed), ...settings.keptTools];
    if (wanted.length > 0) {
      const command = installCommand(installer, wanted, installed.size > 0 ? INSTALLED : null);
      await this.#runInstall(command, directory).catch((error: unknown) => {
        if (!(error instanceof BuildError) || !installed.has('langgraph')) throw error;
        commands.say(`Beside the project's packages these were not installed: ${error.message}`, 'WARNING');
      });
    }
    const conflicts = await commands.ask(`${TOOLS[installer]} check 2>&1 || true`, directory);
    for (const line of conflicts.filter((each) => / require/.test(each)).slice(0, CONFLICTS_MAX)) {
      commands.say(line, 'WARNING');
    }
  }

  /** @throws BuildError that says what could not be done */
  async #runInstall(command: string, folder: string): Promise<void> {
    try {
      await this.#options.commands.run(command, folder);
    } catch (error) {
      if (!(error instanceof BuildError)) throw error;
      throw new BuildError(`The packages could not be installed: ${error.message}`, { cause: error });
    }
  }
}
