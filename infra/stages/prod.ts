import type { StageSettings } from '../settings/stage.ts';

/** The service that people use. docs/operate.md says what each setting means. */
export const prod: StageSettings = {
  region: 'eu-central-1',
  keepsData: true,
  // Every login is refused until you add domains or addresses here.
  whoMayLogIn: { domains: [], emails: [] },
  limits: {},
  alarmEmails: { page: [], ticket: [] },
  firewall: { requests: 5_000, downloads: 20_000 },
  streaming: { environments: 20 },
  restoredTables: {},
};
