/** An error of a route, with what frameworks put on it. */
export type RouteError = Error & { status?: unknown; statusCode?: unknown; expose?: unknown };

/** Returns an error of a project's app in the shape of the server's own. */
export function errorResponse(status: number, detail: string): Response {
  return Response.json({ detail }, { status });
}

/**
 * Returns the answer to a route that failed: what the error says when it is meant for clients (`expose`, as `http-errors`
 * marks it), and otherwise nothing, which is logged for the project's author. The status alone does not tell: errors of
 * other servers that the route asked have one too.
 */
export function failureResponse(error: RouteError, log: (message: string) => void): Response {
  const status = Number(error.status ?? error.statusCode);
  if (error.expose === true && status >= 400 && status < 500) return errorResponse(status, error.message);
  log(`A route of the project failed: ${error.stack ?? String(error)}`);
  return errorResponse(500, 'Internal Server Error');
}
