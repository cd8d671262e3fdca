/** Keeps the body of a request as the project's middleware left it. */
import type { HonoRequest } from './hono.ts';

/** The forms in which a request body is passed on. */
export type Body = ReadableStream | ArrayBuffer | string | null;

interface ParsedBody {
  /** The text that was parsed. It is outdated when middleware puts another text into the request's cache. */
  text: unknown;
  value: Promise<unknown>;
}

const parsedBodies = new WeakMap<HonoRequest, ParsedBody>();

/**
 * Gives every reader of `json()` the same object, so that the next reader sees what middleware changed in it. Some
 * releases of Hono parse the text anew for each reader.
 */
export function shareParsedBody(req: HonoRequest): void {
  req.json = () => {
    const text = req.text();
    const known = parsedBodies.get(req);
    if (known?.text === text) return known.value;
    const value = text.then((json) => JSON.parse(json) as unknown);
    parsedBodies.set(req, { text, value });
    return value;
  };
}

/** Returns the body as middleware left it, or the unread original when nothing has read it. */
export async function currentBody(req: HonoRequest): Promise<Body> {
  const { bodyCache, raw } = req;
  const parsed = parsedBodies.get(req);
  const json = bodyCache.json ?? (parsed && parsed.text === bodyCache.text ? parsed.value : undefined);
  // A body that is not JSON goes on as its text.
  const changed = await Promise.resolve(json).catch(() => undefined);
  if (changed !== undefined) return JSON.stringify(changed);
  if (raw.bodyUsed || Object.keys(bodyCache).length > 0) return req.arrayBuffer();
  return raw.body;
}
