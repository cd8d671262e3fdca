/** Variables by which the installers of Python packages reach an index. */
export const INDEX_VARIABLES = [
  'PIP_INDEX_URL',
  'PIP_EXTRA_INDEX_URL',
  'PIP_FIND_LINKS',
  'PIP_TRUSTED_HOST',
  'PIP_CERT',
  'PIP_DEFAULT_TIMEOUT',
  'UV_DEFAULT_INDEX',
  'UV_INDEX',
  'UV_FIND_LINKS',
  'UV_HTTP_TIMEOUT',
  'SSL_CERT_FILE',
] as const;

/** Settings of pip by the variables that uv reads. */
const OF_UV = {
  UV_DEFAULT_INDEX: 'PIP_INDEX_URL',
  UV_INDEX: 'PIP_EXTRA_INDEX_URL',
  UV_FIND_LINKS: 'PIP_FIND_LINKS',
  SSL_CERT_FILE: 'PIP_CERT',
} as const;

/** Adds what pip is told for uv too. A value that is for uv itself stays. */
export function withUvVariables(variables: Record<string, string>): Record<string, string> {
  const added = Object.entries(OF_UV).flatMap(([name, ofPip]) => {
    const value = variables[ofPip];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(added), ...variables };
}
