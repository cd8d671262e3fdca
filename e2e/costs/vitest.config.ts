import { apart, runApart } from '../../vitest.config.ts';

/** Measures what requests of strangers cost each service. */
export default runApart([apart.costs]);
