/** Files that can be imported as text without saying so: prompts are mostly in these. */
export const TEXT_EXTENSIONS: readonly string[] = ['.txt', '.md'];
