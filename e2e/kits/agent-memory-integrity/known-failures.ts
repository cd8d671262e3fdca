const NOT_BOUND = 'Encrypted bytes are not bound to their row: threads are copied inside the database.';
const NOT_COUNTED = 'Nothing says how many checkpoints a thread had: each is encrypted by itself.';
const READ_AS_OLDER = 'What is not encrypted is read as from before there was a key.';
const WHOLE_WITHOUT_ITS_END =
  'A chain without its end is whole in itself. It shows against a checkpoint that was kept.';
const NEEDS_NO_KEY =
  'Hashes need no key: whoever writes to the database can add an event at the end as the service does.';

/** By what is edited and the edit. Each is what encryption, or the chain, does not show. */
export const KNOWN_FAILURES: Readonly<Record<string, string>> = {
  'encrypted thread: T2 tail truncation': NOT_COUNTED,
  'encrypted thread: T3 middle deletion': NOT_COUNTED,
  'encrypted thread: T4 reordering': NOT_BOUND,
  'encrypted thread: T6 cross-context replay': NOT_BOUND,
  'encrypted thread: T7 rollback replay': NOT_BOUND,
  'encrypted thread: T8 metadata tamper': 'Metadata is searched by, so it stays readable.',
  'encrypted thread: T9 snapshot rollback': NOT_COUNTED,
  'encrypted thread, plain text in its place: T1 content tamper': READ_AS_OLDER,
  'encrypted thread, plain text in its place: T5 forged insertion': READ_AS_OLDER,
  'audit trail: T2 tail truncation': WHOLE_WITHOUT_ITS_END,
  'audit trail: T5 forged insertion': NEEDS_NO_KEY,
  'audit trail: T9 snapshot rollback': WHOLE_WITHOUT_ITS_END,
  'audit trail, checkpoint kept: T5 forged insertion': NEEDS_NO_KEY,
};
