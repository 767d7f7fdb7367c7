import type { FileRecord } from '../../../clients/typescript/src/index.ts';

/** The link with which a browser saves the file, under its name, instead of showing it. */
export const downloadUrl = ({ url }: FileRecord): string => `${url}?download`;
