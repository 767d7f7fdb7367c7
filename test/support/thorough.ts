/**
 * True for `npm run test:soak`, which tries everything; for every change some tests try a part of it, and say so where they
 * ask for this.
 */
export const IS_THOROUGH = process.env.THOROUGH === 'yes';
