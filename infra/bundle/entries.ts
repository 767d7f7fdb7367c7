import { ROUTES } from '../../shared/routes.ts';

/** Functions that no route reaches: events and schedules call them. */
export const BACKGROUND_ENTRIES = {
  settleUpload: 'functions/background/settle-uploaded-object.ts',
  sweep: 'functions/background/sweep.ts',
} as const;

/** Answers every path and method the table of routes does not have. */
export const UNKNOWN_ROUTE_ENTRY = 'functions/unknown-route.ts';

export const UPLOAD_STREAM_ENTRY = 'functions/upload-stream/server.ts';

/** Every bundle of the service: its name, and the module it starts from. */
export const ENTRIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(ROUTES).map(([name, route]) => [name, route.entry])),
  ...BACKGROUND_ENTRIES,
  unknownRoute: UNKNOWN_ROUTE_ENTRY,
  uploadStream: UPLOAD_STREAM_ENTRY,
};
