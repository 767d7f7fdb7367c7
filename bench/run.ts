import { benchFunctions } from './functions.ts';
import { type Measurement, toTable } from './measurement.ts';
import { benchRequests } from './requests.ts';
import { benchStreamingMemory } from './streaming-memory.ts';
import { benchStreamingRate } from './streaming-rate.ts';
import { benchUploadForm } from './upload-form.ts';

/**
 * `npm run bench`, or `node bench/run.ts <name>…` for some benchmarks: measures what the service needs of memory, AWS and
 * time. Times depend on this machine, where clients, service and engines share the processors.
 */
const BENCHMARKS: Readonly<Record<string, () => Promise<Measurement[]>>> = {
  functions: benchFunctions,
  'upload-form': benchUploadForm,
  'streaming-memory': benchStreamingMemory,
  'streaming-rate': benchStreamingRate,
  requests: benchRequests,
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BENCHMARKS);
const measurements: Measurement[] = [];
for (const name of names) {
  const benchmark = BENCHMARKS[name];
  if (!benchmark) throw new Error(`there is no benchmark "${name}"; there are ${Object.keys(BENCHMARKS).join(', ')}`);
  console.error(`${name} …`);
  measurements.push(...(await benchmark()));
}
console.log(toTable(measurements));
