/** The body of a request as the project's middleware left it. */
import type { Body, HonoRequest } from './hono.ts';

interface ParsedBody {
  /** What was parsed. Middleware that puts another text into the cache of the request means that one. */
  text: unknown;
  value: Promise<unknown>;
}

const parsedBodies = new WeakMap<HonoRequest, ParsedBody>();

/**
 * Gives every reader of `json()` the same object, so that what middleware changes in it is what the next one reads. Some
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

/** The body as it came while nobody looked at it, else as middleware left it. */
export async function currentBody(req: HonoRequest): Promise<Body> {
  const { bodyCache, raw } = req;
  const parsed = parsedBodies.get(req);
  const json = bodyCache.json ?? (parsed && parsed.text === bodyCache.text ? parsed.value : undefined);
  // What is no JSON goes on as the text it is.
  const changed = await Promise.resolve(json).catch(() => undefined);
  if (changed !== undefined) return JSON.stringify(changed);
  if (raw.bodyUsed || Object.keys(bodyCache).length > 0) return req.arrayBuffer();
  return raw.body;
}
