/** Number of deliveries that are looked at in the order of their times, before hosts are walked one by one. */
const LOOKED_AT = 1_000;

/** The hosts with waiting deliveries, each found by one step in the index, however many it has. */
const walk = (name: string, condition: string) => `
  ${name} AS (
    (SELECT host FROM webhook_delivery WHERE status = 'pending' AND ${condition} ORDER BY host LIMIT 1)
    UNION ALL
    SELECT (SELECT w.host FROM webhook_delivery w WHERE w.status = 'pending' AND w.host > h.host ORDER BY w.host LIMIT 1)
    FROM ${name} h WHERE h.host IS NOT NULL
  )`;

/**
 * SQL for the hosts with deliveries that are due. Most often few are, while many hosts have some for later; where a slow
 * host has very many that are due, all hosts are walked.
 */
export const DUE_HOSTS = `
  WITH RECURSIVE due AS MATERIALIZED (
    SELECT host FROM webhook_delivery WHERE status = 'pending' AND due_at <= now() ORDER BY due_at LIMIT ${LOOKED_AT}
  ), ${walk('walked', `(SELECT count(*) FROM due) >= ${LOOKED_AT}`)}, hosts AS (
    SELECT DISTINCT host FROM due WHERE (SELECT count(*) FROM due) < ${LOOKED_AT}
    UNION ALL SELECT host FROM walked
  )`;

/** SQL for the time of the next delivery to a host that is not among those; NULL when there is none. */
export function nextDueAt(exceptHosts: string): string {
  return `coalesce(
    (SELECT f.due_at FROM (SELECT host, due_at FROM webhook_delivery WHERE status = 'pending'
                           ORDER BY due_at LIMIT ${LOOKED_AT}) f
     WHERE f.host <> ALL(${exceptHosts}) ORDER BY f.due_at LIMIT 1),
    (WITH RECURSIVE ${walk('hosts', 'true')}
     SELECT min(d.due_at) FROM hosts h CROSS JOIN LATERAL (
       SELECT w.due_at FROM webhook_delivery w WHERE w.status = 'pending' AND w.host = h.host ORDER BY w.due_at LIMIT 1
     ) d WHERE h.host <> ALL(${exceptHosts})))`;
}
