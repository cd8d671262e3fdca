/** Reads a namespace from a query: labels joined by periods, or the parameter repeated. */
export function parseNamespace(parameter: string | string[] | undefined): string[] | undefined {
  if (parameter === undefined || parameter === '') return undefined;
  return Array.isArray(parameter) ? parameter : parameter.split('.');
}
