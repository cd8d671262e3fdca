/** An address that must not be reached. The message is fit for whoever named it: it says nothing of what a name resolves to. */
export class OutboundRefusedError extends Error {
  override readonly name = 'OutboundRefusedError';
}
