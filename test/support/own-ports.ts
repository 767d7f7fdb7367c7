/** The processes that run tests at the same time take free ports from parts of their own. One part is left for the engines of all. */
const PARTS = 9;
process.env.FREE_PORTS = `${1 + Number(process.env.VITEST_POOL_ID)}/${PARTS}`;
