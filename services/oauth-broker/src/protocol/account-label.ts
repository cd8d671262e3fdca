import { toSqlText } from '@runyard/database';
import { decodeJwt } from 'jose';

/** Returns the account's name, from the ID token that the provider sent. It is displayed and must not be trusted. */
export function accountLabelIn(fields: Record<string, unknown>): string | null {
  const team = (fields.team as { name?: unknown } | undefined)?.name;
  if (typeof team === 'string') return toSqlText(team).slice(0, 255);
  if (typeof fields.id_token !== 'string') return null;
  try {
    const { email, preferred_username, name } = decodeJwt(fields.id_token);
    const label = [email, preferred_username, name].find((each) => typeof each === 'string' && each !== '');
    return label === undefined ? null : toSqlText(label as string).slice(0, 255);
  } catch {
    return null;
  }
}
