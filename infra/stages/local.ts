import type { StageSettings } from '../settings/stage.ts';

/** The service that `npm start` and the tests run on one machine. `npm start` takes its limits from the environment. */
export const local: StageSettings = {
  keepsData: false,
  whoMayLogIn: 'everyone',
  firewall: 'off',
  streaming: { environments: 20 },
};
