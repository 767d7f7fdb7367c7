import { CfnParameter, CfnRule, Fn, type Stack } from 'aws-cdk-lib';

/**
 * Has `reader` deployed after `producer`, whose outputs it reads from another Region, and again at every deployment: the CDK CLI skips a stack
 * whose template is as deployed, unless it has a parameter that CloudFormation fills from SSM. The value does not matter (decision 0044).
 */
export function readsOutputsOf(reader: Stack, producer: Stack): void {
  reader.addStackDependency(producer);
  if (reader.node.tryFindChild('ReadAtEachDeployment')) return;
  const { valueAsString } = new CfnParameter(reader, 'ReadAtEachDeployment', {
    type: 'AWS::SSM::Parameter::Value<String>',
    // Every Region has it, because `cdk bootstrap` makes it.
    default: '/cdk-bootstrap/hnb659fds/version',
    description: 'Keeps the CDK CLI from skipping this stack',
  });
  // A parameter that nothing uses is refused at synthesis.
  new CfnRule(reader, 'UsesReadAtEachDeployment', {
    assertions: [
      { assert: Fn.conditionNot(Fn.conditionEquals(valueAsString, '')), assertDescription: 'cdk bootstrap' },
    ],
  });
}
