/** Reads the schemas of graphs from the TypeScript (or JavaScript) source that makes them, without running any of it. */
import { dirname } from 'node:path';
import ts from 'typescript-5';
import { ConsultedFiles } from './consulted-files.ts';
import type { FileDigests } from './file-digests.ts';
import { type GraphTypes, graphTypesOf } from './langgraph-types.ts';
import { subgraphTypesOf } from './subgraph-types.ts';
import { type JsonSchema, TypeSchemas } from './type-schema.ts';

export interface SchemaSource {
  /** Absolute path of the file. */
  file: string;
  /** The export that is the graph, or makes it. */
  symbol: string;
}

/** Schemas of a graph. A property is missing when the source does not say. */
interface ExtractedSchemas {
  input?: JsonSchema;
  output?: JsonSchema;
  state?: JsonSchema;
  context?: JsonSchema;
}

export interface ExtractedGraph {
  graph: ExtractedSchemas;
  /** Schemas of subgraphs, by namespace. */
  subgraphs: Record<string, ExtractedSchemas>;
}

/** The thread that reads starts with this. */
export interface ReaderData {
  /** Absolute paths of the files of all graphs of the project. */
  files: string[];
  /** The project's folder, to which paths in answers are relative. */
  directory: string;
  /** True when nobody waits for the thread. */
  inBackground: boolean;
}

/** The thread's answer for one graph, with all files that it has looked at so far, as they were then. */
export type ReadAnswer = { files: FileDigests } & ({ schemas: ExtractedGraph } | { error: string });

/**
 * Reads the graphs of one project. What they share, the libraries above all, is read and understood once, with the first
 * graph: it takes seconds.
 */
export class SchemaReader {
  /** Records what the schemas depend on. */
  readonly files: ConsultedFiles;
  readonly #optionsByFile: Map<string, string>;
  readonly #programs = new Map<string, ts.Program>();

  constructor({ files, directory }: Pick<ReaderData, 'files' | 'directory'>) {
    this.files = new ConsultedFiles(directory);
    this.#optionsByFile = new Map(files.map((file) => [file, this.#optionsOf(file)]));
  }

  /** @throws Error when the file has no such export, or the export is no graph */
  read({ file, symbol }: SchemaSource): ExtractedGraph {
    const program = this.#programOf(file);
    const checker = program.getTypeChecker();
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    const alias = module && checker.getExportsOfModule(module).find(({ name }) => name === symbol);
    if (!alias) throw new Error(`${file} has no export ${symbol}`);
    const exported = alias.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(alias) : alias;
    const types = graphTypesOf(checker.getTypeOfSymbol(exported), checker);
    if (!types) throw new Error(`The types of ${file} do not say what graph ${symbol} is`);
    const schemas = new TypeSchemas(checker);
    const subgraphs = [...subgraphTypesOf(exported, checker)].map(([namespace, inner]) => [
      namespace,
      toSchemas(inner, schemas),
    ]);
    return { graph: toSchemas(types, schemas), subgraphs: Object.fromEntries(subgraphs) };
  }

  /** Files with the same options are one program. */
  #programOf(file: string): ts.Program {
    const options = this.#optionsByFile.get(file) ?? this.#optionsOf(file);
    let program = this.#programs.get(options);
    if (!program) {
      const alike = [...this.#optionsByFile].filter(([, its]) => its === options).map(([each]) => each);
      const rootNames = [...new Set([file, ...alike])];
      const parsed = JSON.parse(options) as ts.CompilerOptions;
      const { readFile, fileExists, directoryExists } = this.files.system;
      const host = { ...ts.createCompilerHost(parsed), readFile, fileExists, directoryExists };
      host.getSourceFile = (path, version) => {
        const text = readFile(path);
        return text === undefined ? undefined : ts.createSourceFile(path, text, version);
      };
      program = ts.createProgram({ rootNames, options: parsed, host });
      this.#programs.set(options, program);
    }
    return program;
  }

  #optionsOf(file: string): string {
    return JSON.stringify(compilerOptions(file, this.files.system));
  }
}

function toSchemas(graph: GraphTypes, schemas: TypeSchemas): ExtractedSchemas {
  const parts = (Object.entries(graph) as [keyof GraphTypes, ts.Type | undefined][]).map(([part, type]) => [
    part,
    type && schemas.schemaOf(type),
  ]);
  return Object.fromEntries(parts.filter(([, schema]) => schema !== undefined));
}

/**
 * Returns the project's own options without those for writing files. They are strict: otherwise no type says which
 * values may be left out.
 */
function compilerOptions(file: string, system: ts.System): ts.CompilerOptions {
  return {
    ...projectOptions(dirname(file), system),
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowJs: true,
    checkJs: false,
    maxNodeModuleJsDepth: 0,
    incremental: false,
    composite: false,
    declaration: false,
    types: [],
  };
}

function projectOptions(directory: string, system: ts.System): ts.CompilerOptions {
  const path = ts.findConfigFile(directory, system.fileExists);
  const fallback = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
  };
  if (path === undefined) return fallback;
  const { config } = ts.readConfigFile(path, system.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, system, dirname(path));
  return options.moduleResolution === undefined && options.module === undefined ? { ...options, ...fallback } : options;
}
