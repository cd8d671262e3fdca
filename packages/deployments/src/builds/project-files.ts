/** Files, folders and links that a built project may have. Data planes refuse an archive of more. */
export const PROJECT_FILES_MAX = 1_000_000;
/** Names that a path in a built project may have, one within the other: unpacking looks at each of them. */
export const PROJECT_LEVELS_MAX = 100;
