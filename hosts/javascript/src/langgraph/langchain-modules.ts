/**
 * Imports the project's own `@langchain/*` packages, exactly the copies that its graph file uses. A second copy of
 * LangGraph has its own symbols and its own async context, and fails in ways that look like faults of the graph.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CheckpointModule } from '@runyard/checkpointer/graph-process';
import { describeTooOld } from '@runyard/project/supported-releases';
import type { LangGraphModule } from './graph-types.ts';
import { type LangGraphLine, lineOf } from './lines.ts';

export interface ProjectModules {
  langgraph: LangGraphModule;
  checkpoint: CheckpointModule;
  langgraphVersion: string;
  line: LangGraphLine;
  /** Imports a part of `@langchain/core`, for example `tracers/base`, from the copy that LangGraph uses. */
  importCore(path: string): Promise<unknown>;
  /** Imports a part of `langsmith`, from the copy that this core uses. */
  importLangSmith(path: string): Promise<unknown>;
  /** Imports a part of `@langchain/langgraph`, for example `zod/schema`. */
  importLangGraph(path: string): Promise<unknown>;
  warnings: string[];
}

const modulesByEntry = new Map<string, Promise<ProjectModules>>();

/** @param graphFile absolute path of a file that has been imported already */
export function projectModules(graphFile: string): Promise<ProjectModules> {
  const require = createRequire(graphFile);
  const entry = resolveFrom(require, '@langchain/langgraph', graphFile);
  let modules = modulesByEntry.get(entry);
  if (modules === undefined) {
    modules = load(graphFile, require, entry);
    modulesByEntry.set(entry, modules);
  }
  return modules;
}

async function load(graphFile: string, require: NodeJS.Require, entry: string): Promise<ProjectModules> {
  const langgraphVersion = checkVersion('@langchain/langgraph', entry, graphFile);
  const fromLangGraph = createRequire(entry);
  const checkpointEntry = resolveFrom(fromLangGraph, '@langchain/langgraph-checkpoint', entry);
  checkVersion('@langchain/langgraph-checkpoint', checkpointEntry, graphFile);
  const warnings = findDuplicates(require, fromLangGraph, graphFile);
  // A package has a CommonJS and an ES module form, and each would be a separate copy: use the one that the graph used.
  if (require.cache[entry] !== undefined) {
    const importCore = async (path: string) => fromLangGraph(`@langchain/core/${path}`);
    return {
      langgraph: require(entry),
      checkpoint: fromLangGraph(checkpointEntry),
      langgraphVersion,
      line: lineOf(langgraphVersion),
      importCore,
      importLangSmith: async (path) =>
        createRequire(fromLangGraph.resolve('@langchain/core/callbacks/manager'))(`langsmith/${path}`),
      importLangGraph: async (path) => require(`@langchain/langgraph/${path}`),
      warnings,
    };
  }
  const moduleUrl = import.meta.resolve('@langchain/langgraph', pathToFileURL(graphFile).href);
  const checkpointUrl = import.meta.resolve('@langchain/langgraph-checkpoint', moduleUrl);
  return {
    langgraph: await import(moduleUrl),
    checkpoint: await import(checkpointUrl),
    langgraphVersion,
    line: lineOf(langgraphVersion),
    // A part that this release does not have rejects: `resolve` itself would throw.
    importCore: async (path) => import(import.meta.resolve(`@langchain/core/${path}`, moduleUrl)),
    importLangSmith: async (path) =>
      import(
        import.meta.resolve(`langsmith/${path}`, import.meta.resolve('@langchain/core/callbacks/manager', moduleUrl))
      ),
    importLangGraph: async (path) =>
      import(import.meta.resolve(`@langchain/langgraph/${path}`, pathToFileURL(graphFile).href)),
    warnings,
  };
}

function resolveFrom(require: NodeJS.Require, name: string, from: string): string {
  try {
    return require.resolve(name);
  } catch (cause) {
    throw new Error(`${name} is not installed for ${from}. Add it to the project's dependencies and install them.`, {
      cause,
    });
  }
}

function checkVersion(name: Parameters<typeof describeTooOld>[0], entry: string, graphFile: string): string {
  const version = packageVersion(name, entry);
  const fault = describeTooOld(name, version, graphFile);
  if (fault !== undefined) throw new Error(fault);
  return version;
}

/** Returns the version in the `package.json` above a package's entry file. */
function packageVersion(name: string, entry: string): string {
  for (let folder = dirname(entry); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const content = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      if (content.name === name) return String(content.version);
    } catch {
      // This is not the package's root folder yet.
    }
  }
  return '0.0.0';
}

/** Warns about packages of which the graph file and LangGraph use different copies. */
function findDuplicates(require: NodeJS.Require, fromLangGraph: NodeJS.Require, graphFile: string): string[] {
  const warnings: string[] = [];
  for (const [name, specifier] of [
    ['@langchain/core', '@langchain/core/messages'],
    ['@langchain/langgraph-checkpoint', '@langchain/langgraph-checkpoint'],
  ] as const) {
    try {
      const seenByGraph = require.resolve(specifier);
      const seenByLangGraph = fromLangGraph.resolve(specifier);
      if (seenByGraph === seenByLangGraph) continue;
      warnings.push(
        `There are two copies of ${name}: ${graphFile} uses ${packageVersion(name, seenByGraph)} (${seenByGraph}), ` +
          `@langchain/langgraph uses ${packageVersion(name, seenByLangGraph)} (${seenByLangGraph}). ` +
          'Messages and savers of one are strangers to the other; let one version be installed.',
      );
    } catch {
      // The project has no direct dependency on it, so it cannot use another copy.
    }
  }
  return warnings;
}
