/** The value of a secret as `GetSecretValue` would give it. @throws Error when there is none of that id. */
export type SecretValue = (secretId: string) => string;

/** The id is a name, or an ARN, which has colons of its own. */
const REFERENCE =
  /\{\{resolve:(?:secretsmanager:(arn:(?:[^:}]*:){5}[^:}]+|[^:}]+):SecretString:([^:}]*)(?::{0,2})|[^}]*)\}\}/g;

/**
 * Replaces `{{resolve:secretsmanager:<id>:SecretString:<key>::}}` in a text by the secret, or one key of it.
 * @throws Error for any other kind of dynamic reference.
 * Source: CloudFormation User Guide, "Get a secret or secret value from Secrets Manager".
 */
export function resolveDynamicReferences(text: string, secretValue: SecretValue): string {
  return text.replace(REFERENCE, (reference, id?: string, key?: string) => {
    if (id === undefined || key === undefined) {
      throw new Error(`the local environment does not know the dynamic reference ${reference}`);
    }
    const secret = secretValue(id);
    if (key === '') return secret;
    const value = (JSON.parse(secret) as Record<string, unknown>)[key];
    if (typeof value !== 'string') throw new Error(`the secret ${id} has no key "${key}"`);
    return value;
  });
}
