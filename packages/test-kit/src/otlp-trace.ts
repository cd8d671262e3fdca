/** Reads the protobuf form of OTLP's traces, as far as tests look at it. */

/** A span as a collector gets it. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the root of a trace. */
  parentSpanId: string;
  name: string;
  kind: 'unspecified' | 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  startNs: bigint;
  endNs: bigint;
  attributes: Record<string, unknown>;
  error: { message: string } | undefined;
  /** Ids of the spans of other traces that it refers to. */
  links: { traceId: string; spanId: string }[];
  /** Attributes of the process that sent it. */
  resource: Record<string, unknown>;
  schemaUrl: string;
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const STATUS_ERROR = 2n;

/** The fields of one message by their numbers: numbers as bigint, all others as bytes. */
type Message = Map<number, (bigint | Buffer)[]>;

export function readTraceRequest(body: Buffer): CollectedSpan[] {
  return messages(parse(body), 1).flatMap((resourceSpans) => {
    const [resource = new Map()] = messages(resourceSpans, 1);
    const attributes = readAttributes(resource, 1);
    return messages(resourceSpans, 2).flatMap((scopeSpans) => {
      const schemaUrl = text(scopeSpans, 3);
      return messages(scopeSpans, 2).map((span) => ({ ...readSpan(span), resource: attributes, schemaUrl }));
    });
  });
}

function readSpan(span: Message): Omit<CollectedSpan, 'resource' | 'schemaUrl'> {
  const [status = new Map() as Message] = messages(span, 15);
  return {
    traceId: bytes(span, 1).toString('hex'),
    spanId: bytes(span, 2).toString('hex'),
    parentSpanId: bytes(span, 4).toString('hex'),
    name: text(span, 5),
    kind: KINDS[Number(number(span, 6))] ?? 'unspecified',
    startNs: number(span, 7),
    endNs: number(span, 8),
    attributes: readAttributes(span, 9),
    links: messages(span, 13).map((link) => ({
      traceId: bytes(link, 1).toString('hex'),
      spanId: bytes(link, 2).toString('hex'),
    })),
    error: number(status, 3) === STATUS_ERROR ? { message: text(status, 2) } : undefined,
  };
}

function readAttributes(message: Message, field: number): Record<string, unknown> {
  const pairs = messages(message, field).map((pair) => [text(pair, 1), readValue(messages(pair, 2)[0])] as const);
  return Object.fromEntries(pairs);
}

function readValue(value: Message = new Map()): unknown {
  if (value.has(1)) return text(value, 1);
  if (value.has(2)) return number(value, 2) === 1n;
  if (value.has(3)) return Number(BigInt.asIntN(64, number(value, 3)));
  if (value.has(4)) {
    const double = Buffer.alloc(8);
    double.writeBigUInt64LE(number(value, 4));
    return double.readDoubleLE();
  }
  const [array] = messages(value, 5);
  return array ? messages(array, 1).map(readValue) : undefined;
}

function parse(buffer: Buffer): Message {
  const message: Message = new Map();
  let position = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[position++];
      if (byte === undefined) throw new RangeError('a message ends in the middle of a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => {
    const taken = buffer.subarray(position, position + length);
    if (taken.byteLength < length) throw new RangeError('a message ends in the middle of a field');
    position += length;
    return taken;
  };
  const readField: Record<number, () => bigint | Buffer> = {
    0: varint,
    1: () => take(8).readBigUInt64LE(),
    2: () => take(Number(varint())),
    5: () => BigInt(take(4).readUInt32LE()),
  };
  while (position < buffer.byteLength) {
    const tag = Number(varint());
    const read = readField[tag & 7];
    if (!read) throw new TypeError(`wire type ${tag & 7}`);
    const field = tag >>> 3;
    message.set(field, [...(message.get(field) ?? []), read()]);
  }
  return message;
}

function messages(message: Message, field: number): Message[] {
  return (message.get(field) ?? []).map((value) => parse(value as Buffer));
}

function bytes(message: Message, field: number): Buffer {
  return (message.get(field)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
}

function text(message: Message, field: number): string {
  return bytes(message, field).toString('utf8');
}

function number(message: Message, field: number): bigint {
  return (message.get(field)?.[0] as bigint | undefined) ?? 0n;
}
