import Type, { type TSchema, type TString } from 'typebox';

const EXAMPLES = {
  postgres: 'postgres://user:password@host:5432/database',
  redis: 'redis://user:password@host:6379/0',
  smtp: 'smtp://user:password@host:587',
} as const;

const PROTOCOLS: Record<keyof typeof EXAMPLES, RegExp> = {
  postgres: /^postgres(ql)?:$/,
  redis: /^rediss?:$/,
  smtp: /^smtps?:$/,
};

/**
 * Describes a variable that names a server, mostly with a password. `readConfig` refuses values that are no URL of that
 * kind, and does not repeat them. Clients take such a text for the name of a host or a socket, and print it in each of
 * their errors.
 */
export function ConnectionUri(server: keyof typeof EXAMPLES, description: string): TString {
  return Type.String({ minLength: 1, description, connectsTo: server });
}

/**
 * Returns the fault in the value of a variable made with `ConnectionUri`; undefined when there is none, or for other
 * variables.
 */
export function connectionUriProblem(schema: TSchema, value: string): string | undefined {
  const { connectsTo: server } = schema as { connectsTo?: keyof typeof EXAMPLES };
  if (server === undefined || isConnectionUri(server, value)) return undefined;
  return `must be a URL like ${EXAMPLES[server]}, with all but letters and digits of the password percent-encoded`;
}

function isConnectionUri(server: keyof typeof EXAMPLES, value: string): boolean {
  // A socket of this machine has no password.
  if (server === 'redis' && value.startsWith('/') && !value.includes('@')) return true;
  try {
    const { protocol, username, password } = new URL(value);
    decodeURIComponent(username);
    decodeURIComponent(password);
    return PROTOCOLS[server].test(protocol) && value.startsWith(`${protocol}//`);
  } catch {
    return false;
  }
}
