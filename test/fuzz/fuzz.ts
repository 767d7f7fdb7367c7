import { startTracing, takeTrace } from './coverage.ts';

/** A part of the service that reads what strangers send. */
export interface Target {
  /** What the mutations insert, besides random bytes: the words of the grammar. */
  readonly words: readonly string[];
  /** The inputs to begin with, besides the corpus. */
  readonly seeds: readonly string[];
  /** The work for an input may grow with its length, and no faster: so many steps for a byte. */
  readonly stepsPerByte: number;
  /** Reads one input, and throws when a promise of that part is broken. */
  readonly check: (input: string) => void | Promise<void>;
}

/** In an input each character is one byte, so that the corpus is text that a person can read and edit. */
const INPUT_MAX_LENGTH = 2_000;

/** How many steps any input may take besides those for its bytes. */
const STEPS_AT_LEAST = 5_000;

export interface Outcome {
  /** The inputs, besides the corpus and the seeds, that did something new. */
  readonly found: readonly string[];
  readonly mutations: number;
}

/** To ask V8 takes longer than to read an input, so it is asked once for so many inputs, and about each of them if one did something new. */
const INPUTS_AT_ONCE = 32;

/**
 * Tries the inputs of the corpus and the seeds, then mutations of them, until `isOver`. A mutation that makes our code do what no input did
 * before is mutated further.
 * @param seed  the same seed tries the same inputs, as long as the code is the same.
 * @throws Error with the input, when a check fails or an input takes too many steps.
 */
export async function fuzz(
  { words, seeds, stepsPerByte, check }: Target,
  { corpus, seed, isOver }: { corpus: readonly string[]; seed: number; isOver: (mutations: number) => boolean },
): Promise<Outcome> {
  startTracing();
  const seen = new Set<string>();
  const found: string[] = [];
  /** Tries inputs. @returns what they did, if it is new, or more than one of them may do. */
  const newFeatures = async (inputs: readonly string[]) => {
    for (const input of inputs) {
      await Promise.resolve(input)
        .then(check)
        .catch((cause) => {
          throw new Error(`the input ${JSON.stringify(input)} (seed ${seed}): ${cause}`, { cause });
        });
    }
    const { features, steps } = takeTrace();
    const length = inputs.reduce((sum, input) => sum + input.length, 0);
    const isTooMuch = steps > STEPS_AT_LEAST + stepsPerByte * length;
    if (isTooMuch && inputs.length === 1)
      throw new Error(`the input ${JSON.stringify(inputs[0])} (seed ${seed}) took ${steps} steps`);
    return (isTooMuch || features.some((feature) => !seen.has(feature))) && features;
  };
  const newOnes = async (inputs: readonly string[]) => {
    const ones: string[] = [];
    for (const input of inputs) {
      const features = await newFeatures([input]);
      if (!features) continue;
      for (const feature of features) seen.add(feature);
      ones.push(input);
    }
    return ones;
  };
  const given = [...corpus, ...seeds];
  let mutations = 0;
  takeTrace();
  await newOnes(given);
  const random = randomNumbers(seed);
  while (!isOver(mutations)) {
    const inputs = Array.from({ length: INPUTS_AT_ONCE }, () => mutated([...given, ...found], words, random));
    if (await newFeatures(inputs)) found.push(...(await newOnes(inputs)));
    mutations += inputs.length;
  }
  return { found, mutations };
}

/** Changes one of the inputs in one to eight places. */
function mutated(inputs: readonly string[], words: readonly string[], random: (below: number) => number): string {
  const one = <T>(of: readonly T[]) => of[random(of.length)] as T;
  let input = one(inputs);
  for (let changes = 2 ** random(4); changes > 0; changes--) {
    const at = random(input.length + 1);
    const end = at + random(Math.min(40, input.length - at + 1));
    const other = one(inputs);
    const from = random(other.length + 1);
    const pieces = [
      () => one(words),
      () => String.fromCharCode(random(256)),
      () => '',
      () => input.slice(at, end).repeat(2 + random(3)),
      () => one(words).repeat(1 + random(30)),
      () => other.slice(from, from + random(80)),
    ];
    // Half of the pieces take the place of something.
    input = input.slice(0, at) + one(pieces)() + input.slice(random(2) === 0 ? at : end);
  }
  return input.slice(0, INPUT_MAX_LENGTH);
}

/** Numbers that look random, and are the same for the same seed (the generator "mulberry32"). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
