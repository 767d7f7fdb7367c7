import { CfnParameter, Stack } from 'aws-cdk-lib';
import * as ssm from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import { parameterName, type StageName } from '../settings/stage.ts';

/**
 * A value that one stack makes and other stacks of its Region use, such as the name of a table. The stack puts the value into an SSM
 * parameter. Each of the others has a parameter of its template that CloudFormation fills from there whenever it deploys the stack
 * (decision 0044).
 */
export class SharedValue {
  readonly #maker: Stack;
  readonly #id: string;
  readonly #parameterName: string;

  /** @param name  is unique in the stage. */
  constructor(maker: Stack, stage: StageName, name: string, value: string) {
    this.#maker = maker;
    this.#id = `Shared${name}`;
    this.#parameterName = parameterName(stage, `shared/${name}`);
    new ssm.StringParameter(maker, this.#id, {
      parameterName: this.#parameterName,
      stringValue: value,
      description: 'Other stacks read it when they are deployed',
    });
  }

  /** Returns how the stack of `user` refers to the value, and has that stack deployed after the one that makes the value. */
  in(user: Construct): string {
    const stack = Stack.of(user);
    stack.addStackDependency(this.#maker);
    const known = stack.node.tryFindChild(this.#id) as CfnParameter | undefined;
    const parameter =
      known ??
      new CfnParameter(stack, this.#id, {
        type: 'AWS::SSM::Parameter::Value<String>',
        default: this.#parameterName,
      });
    return parameter.valueAsString;
  }
}
