import { type Algorithm, hash, type Options, verify } from '@node-rs/argon2';

/** Argon2id with 19 MiB and two passes, the least that OWASP recommends: tens of milliseconds on one core. */
const OPTIONS: Options = { algorithm: 2 satisfies Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashes at once: each takes a thread of the pool that files and names are looked up with, too. */
const AT_ONCE_MAX = 2;

/** A hash that no password has: it takes the time of a real one. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$cnVueWFyZC1ub2JvZHkhIQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

let running = 0;
const waiting: (() => void)[] = [];

/** Returns the argon2id hash of a password in its PHC form. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(prepare(password), OPTIONS));
}

/** Returns whether a password has this hash. Null, for an unknown account, takes as long and is false. */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const matches = await inTurn(() => verify(passwordHash ?? NOBODYS, prepare(password)));
  return passwordHash !== null && matches;
}

/** Normalizes a password, because keyboards and systems write the same letter in several forms. */
function prepare(password: string): string {
  return password.normalize('NFKC');
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
