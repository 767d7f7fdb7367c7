import { ROUTES } from '../../functions/routes.ts';

/** The functions that events and schedules call, instead of routes. */
export const BACKGROUND_ENTRIES = {
  completeArrivedUpload: 'functions/background/complete-arrived-upload.ts',
  sweep: 'functions/background/sweep.ts',
  canary: 'functions/canary/canary.ts',
} as const;

/** The function that answers every path and method that is not in the table of routes. */
export const UNKNOWN_ROUTE_ENTRY = 'functions/unknown-route.ts';

export const UPLOAD_STREAM_ENTRY = 'functions/upload-stream/server.ts';

/** Every bundle of the service: the module it starts from, by name. */
export const ENTRIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(ROUTES).map(([name, route]) => [name, route.entry])),
  ...BACKGROUND_ENTRIES,
  unknownRoute: UNKNOWN_ROUTE_ENTRY,
  uploadStream: UPLOAD_STREAM_ENTRY,
};
