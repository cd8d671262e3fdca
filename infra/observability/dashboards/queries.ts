import type { Query } from './dashboard.ts';

/** Selects the platform's services and the processes of deployments that the variable `service` names. */
export const SERVICE = 'job=~"$service"';
/** Selects the deployments that the variable `deployment` names. */
export const DEPLOYMENT = 'project_id=~"$deployment"';
/** Selects an agent-api of each deployment. It reports the sums of all workers, those that have ended included. */
export const TOTALS = `job="runyard-agent-api",${DEPLOYMENT}`;
export const WORKERS = `job="runyard-run-worker",${DEPLOYMENT}`;

/** Queries how often something happens in a second, summed up by labels. */
export function rateBy(labels: string, selector: string, legend = legendOf(labels)): Query {
  return { expr: `sum by (${labels}) (rate(${selector}[$__rate_interval]))`, legend };
}

/**
 * Queries how often something happens in a second in the whole deployment. Every agent-api of it reports the same, so
 * that the largest counts.
 */
export function totalRate(metric: string, legend: string): Query {
  return {
    expr: `sum(max by (project_id) (rate(${metric}{${TOTALS}}[$__rate_interval])))`,
    legend,
  };
}

/** Queries quantiles of a histogram, one series for each. */
export function quantiles(bucketSelector: string, shares: readonly number[] = [0.5, 0.95, 0.99]): Query[] {
  return shares.map((share) => ({
    expr: `histogram_quantile(${share}, sum by (le) (rate(${bucketSelector}[$__rate_interval])))`,
    legend: `p${share * 100}`,
  }));
}

/** Queries one quantile of a histogram, by labels. */
export function quantileBy(labels: string, bucketSelector: string, share = 0.95): Query {
  return {
    expr: `histogram_quantile(${share}, sum by (le, ${labels}) (rate(${bucketSelector}[$__rate_interval])))`,
    legend: legendOf(labels),
  };
}

/** Queries the largest value by labels, for gauges that several processes report of the same thing. */
export function largestBy(labels: string, selector: string, legend = legendOf(labels)): Query {
  return { expr: `max by (${labels}) (${selector})`, legend };
}

export function sumBy(labels: string, selector: string, legend = legendOf(labels)): Query {
  return { expr: `sum by (${labels}) (${selector})`, legend };
}

function legendOf(labels: string): string {
  return labels
    .split(', ')
    .map((label) => `{{${label}}}`)
    .join(' ');
}
