/** The variable of an external server. */
export const POSTGRES_VARIABLE = 'RUNYARD_POSTGRES_URL';

export const NO_POSTGRES = `There is no Postgres here: install Postgres 14 or newer, or set ${POSTGRES_VARIABLE} to a server that may be used, or start Docker.`;
