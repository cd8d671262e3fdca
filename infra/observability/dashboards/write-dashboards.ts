import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DASHBOARDS } from './all.ts';
import { toGrafana } from './dashboard.ts';
import { printJson } from './print-json.ts';

for (const [name, dashboard] of Object.entries(DASHBOARDS)) {
  writeFileSync(join(import.meta.dirname, `${name}.json`), printJson(toGrafana(dashboard)));
}
