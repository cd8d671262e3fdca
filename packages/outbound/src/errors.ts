/** An address must not be reached. The message is safe for the caller: it does not say what a name resolves to. */
export class OutboundRefusedError extends Error {
  override readonly name = 'OutboundRefusedError';
}
