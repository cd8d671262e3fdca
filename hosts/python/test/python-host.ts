import { join } from 'node:path';
import { preparePython } from '@runyard/test-kit/python';

export const FOLDER = join(import.meta.dirname, '..');

/** The Python of the tests: it has LangGraph, and what checks this package. */
export const python = await preparePython(join(FOLDER, 'requirements.txt'));
