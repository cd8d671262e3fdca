import { deployments } from './deployments.ts';
import { history } from './history.ts';
import { platform } from './platform.ts';
import { runs } from './runs.ts';

/** The dashboards by the names of their files. */
export const DASHBOARDS = { platform, runs, deployments, history };
