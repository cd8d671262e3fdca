/** Files, folders and links that a built project may have. Data planes refuse an archive of more. */
export const PROJECT_FILES_MAX = 1_000_000;
