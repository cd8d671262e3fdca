export { freePort } from '@runyard/service-kit';
