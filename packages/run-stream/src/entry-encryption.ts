import { type DataCipher, EncryptionError } from '@runyard/encryption';
import { UNIT } from './entry-separators.ts';
import { BEFORE_ALL } from './event-id.ts';
import { gapAfter } from './stream-gap.ts';
import { type AppendEvent, CONTROL_KINDS } from './types.ts';

/** The fields of an entry that show what a graph does. */
type Content = Pick<AppendEvent, 'kind' | 'event' | 'data'>;

/**
 * Whoever cannot decrypt an entry has missed it. So an encrypted entry is stored as such a gap, with its content in one
 * more field: the release before encryption reports the gap, and never passes ciphertext on as an event.
 */
const UNREAD: Content = gapAfter(BEFORE_ALL, 'lost');
const BEGIN = `${UNREAD.data.slice(0, -1)},"encrypted":"`;
const END = '"}';

/** @param content without separators in its fields */
export function encryptContent({ kind, event, data }: Content, cipher: DataCipher): Content {
  const encrypted = cipher.encrypt(Buffer.from([kind, event, data].join(UNIT)));
  return { ...UNREAD, data: `${BEGIN}${encrypted.toString('base64')}${END}` };
}

/** Returns content from before there was a key as it is, and a gap for what cannot be decrypted. */
export function decryptContent(stored: Content, cipher: DataCipher): Content {
  if (stored.kind !== CONTROL_KINDS.gap || !stored.data.startsWith(BEGIN)) return stored;
  const encrypted = Buffer.from(stored.data.slice(BEGIN.length, -END.length), 'base64');
  try {
    const [kind = '', event = '', data = ''] = cipher.decrypt(encrypted).toString('utf8').split(UNIT);
    return { kind, event, data };
  } catch (error) {
    if (error instanceof EncryptionError) return UNREAD;
    throw error;
  }
}
