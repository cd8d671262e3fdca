import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawnPage } from './import-picture.ts';

const repository = join(import.meta.dirname, '../..');
writeFileSync(join(repository, 'ARCHITECTURE.md'), drawnPage(repository).drawn);
