/**
 * Conditions on an account's row. It is suspended by the presence of `suspended`, whatever its value; so are the rows of its
 * keys, because a request reads one of those and not the account. (Sessions are not marked: they end.)
 */

/** It may be given a key, a session, a file: it is there, and not suspended. */
export const ACCOUNT_IS_OPEN = 'attribute_exists(id) AND attribute_not_exists(suspended)';
export const ACCOUNT_IS_SUSPENDED = 'attribute_exists(suspended)';
