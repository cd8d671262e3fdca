const DAY_MS = 86_400_000;

/** The choices for when a key ends; `days` null: never; 0: another day that one chooses. */
export const EXPIRIES = [
  { value: '7', label: 'In 7 days', days: 7 },
  { value: '30', label: 'In 30 days', days: 30 },
  { value: '90', label: 'In 90 days', days: 90 },
  { value: '365', label: 'In a year', days: 365 },
  { value: 'never', label: 'Never', days: null },
  { value: 'date', label: 'On another day …', days: 0 },
] as const;

export interface Expiry {
  after: (typeof EXPIRIES)[number]['value'];
  /** `2026-12-31`, in the person's own time zone; for `date` alone. */
  date: string;
}

/** Returns the choice that a form begins with: 90 days, or the longest that the organization allows. */
export function firstExpiry(maxDays: number | null): Expiry {
  const allowed = EXPIRIES.filter(({ days }) => days !== null && days > 0 && days <= Math.min(maxDays ?? 90, 90));
  return { after: allowed.at(-1)?.value ?? 'date', date: '' };
}

/**
 * Returns when a key ends, as the platform takes it; null: never. A day ends at its midnight here.
 *
 * @throws Error for a day that is missing or has passed
 */
export function expiresAt({ after, date }: Expiry, now: Date): string | null {
  const { days } = EXPIRIES.find(({ value }) => value === after)!;
  if (days === null) return null;
  if (days > 0) return new Date(now.getTime() + days * DAY_MS).toISOString();
  const end = new Date(`${date}T23:59:59`);
  if (Number.isNaN(end.getTime())) throw new Error('Say on which day the key ends');
  if (end <= now) throw new Error('The day on which the key ends has passed');
  return end.toISOString();
}
