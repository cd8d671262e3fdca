import type { AuthUser } from './messages/auth.ts';

/** Returns a user as the text of a header: its fields may hold any character. */
export function encodeUser(user: AuthUser): string {
  return Buffer.from(JSON.stringify(user)).toString('base64url');
}

/** Reads what `encodeUser` wrote. */
export function decodeUser(text: string): AuthUser {
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as AuthUser;
}
