import { workerData } from 'node:worker_threads';
import { buildDashboard } from './build-dashboard.ts';

/** The thread in which `startBundling` builds the dashboard, into the folder that is its `workerData`. */
await buildDashboard(workerData);
