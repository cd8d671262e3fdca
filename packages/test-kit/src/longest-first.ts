import { dirname } from 'node:path';
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';

/**
 * Orders test files so that the longest begin first, and none of them runs alone at the end. The others of a folder
 * follow each other: they share what a process keeps from one to the next.
 *
 * @param names of files, without `.test.ts`, the longest first
 */
export function createLongestFirstSequencer(names: string[]): TestSequencerConstructor {
  const place = ({ moduleId }: TestSpecification) => {
    const index = names.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
    return index === -1 ? names.length : index;
  };
  const folderOf = ({ moduleId }: TestSpecification) => dirname(moduleId);
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files);
      const folders = [...new Set(sorted.map(folderOf))];
      const folderPlaces = new Map(folders.map((folder, index) => [folder, index]));
      const folderPlace = (file: TestSpecification) => folderPlaces.get(folderOf(file)) ?? folders.length;
      // Each name has a place of its own, so that only files without one are compared by their folders.
      return sorted.sort((a, b) => place(a) - place(b) || folderPlace(a) - folderPlace(b));
    }
  };
}
