/** The token by which the services of a platform under test know each other. */
export const INTERNAL_TOKEN = 'the platform speaks to itself alone';
/** The key of its own data planes. */
export const DATA_PLANE_KEY = 'shared-by-the-data-planes-of-a-test';
