import { apart, runApart } from '../../vitest.config.ts';

/** Runs the tests of packages and services that kill processes at every step, or at many moments. */
export default runApart([apart.kills]);
