import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';

/**
 * Orders test files so that the longest begin first, and none of them runs alone at the end.
 *
 * @param names of files, without `.test.ts`, the longest first
 */
export function createLongestFirstSequencer(names: string[]): TestSequencerConstructor {
  const place = ({ moduleId }: TestSpecification) => {
    const index = names.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
    return index === -1 ? names.length : index;
  };
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return (await super.sort(files)).sort((a, b) => place(a) - place(b));
    }
  };
}
