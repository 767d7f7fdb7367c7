/** A front in a separate process, so that a test can kill it: `node front-process.ts <options as JSON>`. */
import { type AwsFrontOptions, startAwsFront } from '../../../local-aws/aws-front/aws-front.ts';

const options = JSON.parse(process.argv[2] ?? '') as AwsFrontOptions;
const { endpoint } = await startAwsFront(options);
process.send?.({ endpoint });
process.on('message', () => process.send?.({ peakMemoryBytes: process.resourceUsage().maxRSS * 1024 }));
