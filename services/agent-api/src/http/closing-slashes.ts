import type { RequestHandler } from '@runyard/service-kit';

/** The endpoints of JSON-RPC with a slash at the end, which clients write that join a base address and `/`. */
const WITH_SLASH = /^(\/mcp|\/a2a\/[^/?]+)\/(?=\?|$)/;

/** Takes the slash off the end of an endpoint of JSON-RPC. */
export const takeClosingSlashOff: RequestHandler = (req, _res, next) => {
  req.url = req.url.replace(WITH_SLASH, '$1');
  next();
};
