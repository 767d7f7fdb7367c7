import type { FunctionCredentials } from './function-credentials.ts';

export interface Surroundings {
  readonly region: string;
  /** Where every AWS service is reached: the AWS front. */
  readonly awsEndpoint: string;
}

/**
 * Everything a function finds in its environment: the template's variables and what Lambda itself sets. Nothing of the
 * process that runs it, whose variables a function on AWS could not see either.
 * Source: Lambda Developer Guide, "Defined runtime environment variables".
 */
export function functionVariables(
  fn: {
    readonly credentials: FunctionCredentials;
    readonly codeDirectory: string;
    readonly variables: Readonly<Record<string, string>>;
  },
  { region, awsEndpoint }: Surroundings,
): Record<string, string> {
  return {
    ...fn.variables,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: fn.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: fn.credentials.secretAccessKey,
    AWS_ENDPOINT_URL: awsEndpoint,
    LAMBDA_TASK_ROOT: fn.codeDirectory,
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
  };
}
