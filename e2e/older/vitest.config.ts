import { apart, runApart } from '../../vitest.config.ts';

/** Runs the tests with data of earlier releases, and with earlier releases of libraries. */
export default runApart([apart.older]);
