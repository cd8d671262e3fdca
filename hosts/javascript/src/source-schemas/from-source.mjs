// This file starts main.ts in a thread when nothing is bundled: threads do not inherit the loader of the process.
import { register } from 'tsx/esm/api';

register();
await import('./main.ts');
