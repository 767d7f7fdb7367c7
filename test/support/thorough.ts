/** True in `npm run test:soak`, where tests try all their cases; otherwise some tests try only a part of them. */
export const IS_THOROUGH = process.env.THOROUGH === 'yes';
