// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are CloudFormation's
import { describe, expect, test } from 'vitest';
import { evaluateCondition, resolveIntrinsics, type Scope } from '../../../local-aws/template/intrinsics.ts';

const scope: Scope = {
  ref: (name) => ({ 'AWS::Region': 'eu-west-1', Table: 'table-1', Count: 3 })[name],
  attribute: (logicalId, attribute) => `${logicalId}/${attribute}`,
  exported: (name) => `exported ${name}`,
  output: (stack, name) => `${stack}:${name}`,
  condition: (name) => name === 'Yes',
};

describe('intrinsic functions', () => {
  test.each([
    [{ Ref: 'Table' }, 'table-1'],
    [{ Ref: 'AWS::Region' }, 'eu-west-1'],
    [{ 'Fn::GetAtt': ['Table', 'Arn'] }, 'Table/Arn'],
    [{ 'Fn::GetAtt': 'Table.Stream.Arn' }, 'Table/Stream.Arn'],
    [{ 'Fn::Join': ['-', ['a', { Ref: 'Table' }, { Ref: 'Count' }]] }, 'a-table-1-3'],
    [{ 'Fn::Sub': 'x/${Table}/${Table.Arn}/${!Table}/${AWS::Region}' }, 'x/table-1/Table/Arn/${Table}/eu-west-1'],
    [{ 'Fn::Sub': ['${Table} ${Own}', { Own: { Ref: 'Table' } }] }, 'table-1 table-1'],
    [{ 'Fn::Select': [1, ['a', { Ref: 'Table' }]] }, 'table-1'],
    [{ 'Fn::Select': ['0', { 'Fn::Split': ['-', { Ref: 'Table' }] }] }, 'table'],
    [{ 'Fn::If': ['Yes', 'then', { Ref: 'Missing' }] }, 'then'],
    [{ 'Fn::If': ['No', { Ref: 'Missing' }, 'else'] }, 'else'],
    [{ 'Fn::ImportValue': { 'Fn::Sub': 'of-${Table}' } }, 'exported of-table-1'],
    [{ 'Fn::GetStackOutput': { StackName: 'Data', OutputName: 'Name', Region: { Ref: 'AWS::Region' } } }, 'Data:Name'],
    [
      { kept: 1, gone: { Ref: 'AWS::NoValue' }, list: [{ Ref: 'AWS::NoValue' }, true] },
      { kept: 1, list: [true] },
    ],
    [
      { Ref: 'Table', Other: 1 },
      { Ref: 'Table', Other: 1 },
    ],
  ])('%j is %j', (value, expected) => {
    expect(resolveIntrinsics(value, scope)).toEqual(expected);
  });

  test.each([
    [{ Ref: 'Missing' }, 'there is no "Missing"'],
    [{ 'Fn::Sub': '${Missing}' }, 'there is no "Missing"'],
    [{ 'Fn::Cidr': ['10.0.0.0/16', 6, 8] }, 'does not know the intrinsic function Fn::Cidr'],
    [{ 'Fn::Select': [5, ['a']] }, 'no item 5'],
    [{ 'Fn::Join': ['', [{ a: 1 }]] }, 'needs text'],
  ])('%j is an error', (value, message) => {
    expect(() => resolveIntrinsics(value, scope)).toThrow(message);
  });
});

describe('conditions', () => {
  const yes = { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'eu-west-1'] };
  const no = { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] };
  test.each([
    [yes, true],
    [no, false],
    [{ Condition: 'Yes' }, true],
    [{ 'Fn::And': [yes, no] }, false],
    [{ 'Fn::Or': [no, yes] }, true],
    [{ 'Fn::Not': [no] }, true],
  ])('%j is %j', (condition, expected) => {
    expect(evaluateCondition(condition, scope)).toBe(expected);
  });

  test('an unknown function is an error', () => {
    expect(() => evaluateCondition({ 'Fn::Contains': [] }, scope)).toThrow('Fn::Contains');
  });
});
