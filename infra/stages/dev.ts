import type { StageSettings } from '../settings/stage.ts';

/** A second service for trying things out. Its data is deleted together with its stacks. */
export const dev: StageSettings = {
  region: 'eu-central-1',
  keepsData: false,
  // Every login is refused until you add domains or addresses here.
  whoMayLogIn: { domains: [], emails: [] },
  limits: {},
  canary: false,
  firewall: 'off',
  streaming: { environments: 20 },
};
