import { detectCommandTool, detectInstallation, fetchTool, type PackageTool } from '@runyard/package-managers';
import type { BuildCommands } from '../commands/build-commands.ts';

/** Installs the packages of `package.json` files, with package managers that npm fetches. */
export class JavaScriptPackages {
  readonly #commands: BuildCommands;
  readonly #toolsFolder: string;
  readonly #fetched = new Set<string>();

  /** @param toolsFolder holds package managers. A build writes to it only to fetch one. */
  constructor(commands: BuildCommands, toolsFolder: string) {
    this.#commands = commands;
    this.#toolsFolder = toolsFolder;
  }

  /**
   * Installs what the project's lock file or manifest names.
   *
   * @param root the highest folder to look at
   * @throws BuildError or ProjectError
   */
  async install(root: string, projectFolder: string): Promise<void> {
    const installation = await detectInstallation(root, projectFolder);
    if (!installation) return this.#commands.say('There is no package.json: nothing is installed');
    if (installation.tool) await this.#useTool(installation.tool);
    await this.#commands.run(installation.command, installation.folder);
  }

  /**
   * Runs a command of the project's author with the package manager that the command begins with.
   *
   * @throws BuildError or ProjectError
   */
  async runOwn(command: string, folder: string): Promise<void> {
    const tool = await detectCommandTool(command, folder);
    // A package manager that installed the packages also runs the build command.
    if (tool && !this.#fetched.has(tool.name)) await this.#useTool(tool);
    await this.#commands.run(command, folder);
  }

  async #useTool(tool: PackageTool): Promise<void> {
    const programs = await fetchTool(tool, this.#toolsFolder, async (command, folder) => {
      this.#commands.say(`Fetching ${tool.package}`);
      await this.#commands.fetch(command, folder);
    });
    this.#fetched.add(tool.name);
    this.#commands.useTool(programs);
  }
}
