/** Characters of the name of a model, a provider or a tool. */
export const USAGE_NAME_MAX = 200;
/** Models, and tools, that an attempt counts apart; those that come later count as `other`. */
export const USAGE_NAMES_MAX = 50;
