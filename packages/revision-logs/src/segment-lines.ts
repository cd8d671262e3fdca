import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { LogOrder } from '@runyard/contracts';
import { ignoreMissing } from './ignore-missing.ts';
import type { LogSegment } from './log-segments.ts';

const BLOCK_BYTES = 64 * 1024;
const LINE_END = 0x0a;

export interface SegmentLine {
  id: string;
  text: string;
}

/**
 * Yields the lines of a file, the oldest or the newest first, and reads block by block. It leaves out a last line that
 * is still being written. `onRead` gets the number of bytes of each block.
 */
export async function* segmentLines(
  segment: LogSegment,
  order: LogOrder,
  onRead: (bytes: number) => void,
): AsyncGenerator<SegmentLine> {
  const file = await ignoreMissing(open(segment.path, 'r'));
  if (!file) return;
  try {
    for await (const line of order === 'asc' ? readForwards(file, onRead) : readBackwards(file, onRead)) {
      yield* lineOf(line);
    }
  } finally {
    await file.close();
  }
}

/** Returns the id of the newest whole line; null without a line or a file. */
export async function lastIdOf(segment: LogSegment): Promise<string | null> {
  for await (const { id } of segmentLines(segment, 'desc', () => undefined)) return id;
  return null;
}

/** Returns whole lines from a position on, about this many bytes but at least one line, and the position after them. */
export async function linesFrom(
  segment: LogSegment,
  from: number,
  bytes: number,
): Promise<{ lines: SegmentLine[]; position: number }> {
  const file = await ignoreMissing(open(segment.path, 'r'));
  if (!file) return { lines: [], position: from };
  try {
    let block: Buffer;
    let end: number;
    let length = bytes;
    do {
      block = await readBytes(file, from, length);
      end = block.lastIndexOf(LINE_END);
      length *= 2;
    } while (end < 0 && block.length === length / 2);
    return { lines: wholeLines(block).flatMap(lineOf), position: from + end + 1 };
  } finally {
    await file.close();
  }
}

async function* readForwards(file: FileHandle, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for (let position = 0; ; ) {
    const block = await readBytes(file, position, BLOCK_BYTES);
    if (block.length === 0) return;
    onRead(block.length);
    position += block.length;
    const text = Buffer.concat([rest, block]);
    yield* wholeLines(text);
    rest = text.subarray(text.lastIndexOf(LINE_END) + 1);
  }
}

async function* readBackwards(file: FileHandle, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  let position = (await file.stat()).size;
  /** The text before the lines yielded so far. */
  let rest: Buffer = Buffer.alloc(0);
  let isWhole = false;
  while (position > 0) {
    const length = Math.min(BLOCK_BYTES, position);
    position -= length;
    const block = await readBytes(file, position, length);
    onRead(block.length);
    rest = Buffer.concat([block, rest]);
    for (let end = rest.lastIndexOf(LINE_END); end >= 0; end = rest.lastIndexOf(LINE_END)) {
      if (isWhole) yield rest.subarray(end + 1);
      isWhole = true;
      rest = rest.subarray(0, end);
    }
  }
  if (isWhole && rest.length > 0) yield rest;
}

/** Returns the terminated lines, without their line feeds. */
function wholeLines(text: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = text.indexOf(LINE_END); end >= 0; end = text.indexOf(LINE_END, start)) {
    lines.push(text.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

const BEFORE_ID = Buffer.from('{"id":"');
const ID_LENGTH = 36;

function lineOf(line: Buffer): SegmentLine[] {
  const id = idOf(line);
  return id === undefined ? [] : [{ id, text: line.toString('utf8') }];
}

/** Returns undefined for a line that was cut when the machine stopped. */
function idOf(line: Buffer): string | undefined {
  const start = BEFORE_ID.length;
  if (line.length < start + ID_LENGTH || !line.subarray(0, start).equals(BEFORE_ID)) return undefined;
  return line.toString('latin1', start, start + ID_LENGTH);
}
