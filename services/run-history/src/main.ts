import { runMigrations } from '@runyard/database';
import { runService } from '@runyard/service-kit';
import { migrationsDir } from './run.ts';
import { service } from './service.ts';

if (process.argv[2] === 'migrate') await runMigrations(service.name, migrationsDir);
else await runService(service);
