/** The level of the agent server API that runs report in their metadata. */
export const VERSION = '0.1.0';
