/** A front in a process of its own, so that a test can end it without warning: `node front-process.ts <options as JSON>`. */
import { type AwsFrontOptions, startAwsFront } from '../../../local-aws/aws-front/aws-front.ts';

const options = JSON.parse(process.argv[2] ?? '') as AwsFrontOptions;
const { endpoint } = await startAwsFront(options);
process.send?.({ endpoint });
process.on('message', () => process.send?.({ peakMemoryBytes: process.resourceUsage().maxRSS * 1024 }));
