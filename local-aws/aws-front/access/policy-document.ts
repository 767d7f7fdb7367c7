/** An IAM policy as CloudFormation holds it, its references resolved. */
export interface PolicyDocument {
  readonly Version?: string;
  readonly Statement: readonly object[] | object;
}
