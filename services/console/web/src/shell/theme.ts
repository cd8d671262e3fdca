/** Light or dark, or as the system has it. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'theme';

export function chosenTheme(): Theme {
  const kept = window.localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

/** Shows the pages as the person has chosen. */
export function applyTheme(theme: Theme = chosenTheme()): void {
  if (theme === 'system') window.localStorage.removeItem(KEY);
  else window.localStorage.setItem(KEY, theme);
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
