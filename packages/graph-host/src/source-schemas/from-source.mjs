// Starts main.ts in a thread when nothing is bundled: the loader of the process is not the loader of its threads.
import { register } from 'tsx/esm/api';

register();
await import('./main.ts');
