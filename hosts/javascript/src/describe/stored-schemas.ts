/** Schemas that were read from the source of graphs once, in a file of the project. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { LoadedGraph } from '../loading/load-graphs.ts';
import type { ExtractedGraph } from '../source-schemas/extract.ts';
import { areUnchanged, type FileDigests } from '../source-schemas/file-digests.ts';
import { VERSION } from '../version.ts';

/** The path of the file in the project's folder. */
const SCHEMAS_FILE = join('.runyard', 'graph-schemas.json');

/** Names what reads the schemas. The number is raised with each change of what it returns for the same source. */
const READER = `${VERSION}/2`;

interface StoredFile {
  reader: string;
  /** All files that the schemas depend on. */
  files: FileDigests;
  /** Null for a graph whose schemas the source does not say. */
  schemas: Record<string, ExtractedGraph | null>;
}

export class StoredSchemas {
  readonly #directory: string;
  readonly #schemas: StoredFile['schemas'];

  private constructor(directory: string, schemas: StoredFile['schemas']) {
    this.#directory = directory;
    this.#schemas = schemas;
  }

  /** Reads the file. It counts for nothing when it is missing, or what it depends on is not as it was. */
  static async read(directory: string): Promise<StoredSchemas> {
    try {
      const stored = JSON.parse(await readFile(join(directory, SCHEMAS_FILE), 'utf8')) as StoredFile;
      const isFit = stored.reader === READER && (await areUnchanged(directory, stored.files));
      return new StoredSchemas(directory, isFit ? stored.schemas : {});
    } catch {
      return new StoredSchemas(directory, {});
    }
  }

  /** Writes the file. @param files that the schemas depend on, each as it was before it was read */
  static async write(
    directory: string,
    graphs: { graph: LoadedGraph; schemas: ExtractedGraph | null }[],
    files: FileDigests,
  ): Promise<void> {
    const entries = graphs.map(({ graph, schemas }) => [nameOf(graph, directory), schemas] as const);
    const stored: StoredFile = {
      reader: READER,
      files,
      schemas: Object.fromEntries(entries),
    };
    const path = join(directory, SCHEMAS_FILE);
    const isNew = (await mkdir(dirname(path), { recursive: true })) !== undefined;
    // A project that runs in place is somebody's work: the folder is not to be part of what they commit.
    if (isNew) await writeFile(join(dirname(path), '.gitignore'), '*\n');
    await writeFile(`${path}.part`, JSON.stringify(stored));
    await rename(`${path}.part`, path);
  }

  /** Returns whether the file has the schemas of the graph, or that its source does not say them. */
  has(graph: LoadedGraph): boolean {
    return Object.hasOwn(this.#schemas, nameOf(graph, this.#directory));
  }

  of(graph: LoadedGraph): ExtractedGraph | undefined {
    return this.has(graph) ? (this.#schemas[nameOf(graph, this.#directory)] ?? undefined) : undefined;
  }
}

function nameOf({ source: { file, symbol } }: LoadedGraph, directory: string): string {
  return `${relative(directory, file)}:${symbol}`;
}
