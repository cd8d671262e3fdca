/** SQL for the start of the present period of budget `b`. */
export const PERIOD_START = `date_trunc(b.period, now(), 'UTC')`;

/** SQL for the end of that period: months have their own lengths. */
const PERIOD_END = `((${PERIOD_START} AT TIME ZONE 'UTC' + ('1 ' || b.period)::interval) AT TIME ZONE 'UTC')`;

/** Columns of budget `b` that its refusals need. */
export const TERMS = `b.budget_id, b.name, b.period, b.tokens_max::float8, b.runs_max::float8, b.is_enforced,
  b.refusal_status, ${PERIOD_END} AS until`;

/** A row with {@link TERMS}. */
export interface TermsRow {
  budget_id: string;
  name: string;
  period: 'hour' | 'day' | 'month';
  tokens_max: number | null;
  runs_max: number | null;
  is_enforced: boolean;
  refusal_status: number;
  until: Date;
}
