import { readFileSync, writeFileSync } from 'node:fs';
import { servicePages } from './error-page-files.ts';
import { fillErrorTables, renderErrorPage } from './error-pages.ts';

const { errorPage, pages } = servicePages();
writeFileSync(errorPage, renderErrorPage());
for (const page of pages) writeFileSync(page, fillErrorTables(readFileSync(page, 'utf8')));
