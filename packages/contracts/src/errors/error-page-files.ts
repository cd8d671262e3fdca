import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Returns the paths of the page with all codes, and of the other pages about services, whose tables have some. */
export function servicePages(): { errorPage: string; pages: string[] } {
  const folder = fileURLToPath(new URL('../../../../docs/services/', import.meta.url));
  const errorPage = `${folder}errors.md`;
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => folder + name)
    .filter((path) => path !== errorPage);
  return { errorPage, pages };
}
