/** Parses JSON text as it is stored, without a copy of its bytes. */
export function parseStoredJson(text: Uint8Array): unknown {
  return JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8'));
}
