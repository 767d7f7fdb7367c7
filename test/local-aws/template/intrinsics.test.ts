// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are CloudFormation's
import { describe, expect, test } from 'vitest';
import { resolveIntrinsics, type Scope } from '../../../local-aws/template/intrinsics.ts';

const scope: Scope = {
  ref: (name) => ({ 'AWS::Region': 'eu-west-1', Table: 'table-1', Count: 3 })[name],
  attribute: (logicalId, attribute) => `${logicalId}/${attribute}`,
  output: (stack, name) => `${stack}:${name}`,
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
    [{ 'Fn::GetStackOutput': { StackName: 'Data', OutputName: 'Name', Region: { Ref: 'AWS::Region' } } }, 'Data:Name'],
    [
      { kept: 1, gone: { Ref: 'AWS::NoValue' }, list: [{ Ref: 'AWS::NoValue' }, true] },
      { kept: 1, list: [true] },
    ],
    [
      { Ref: 'Table', Other: 1 },
      { Ref: 'Table', Other: 1 },
    ],
  ])('the value of %j is %j', (value, expected) => {
    expect(resolveIntrinsics(value, scope)).toEqual(expected);
  });

  test.each([
    [{ Ref: 'Missing' }, 'there is no "Missing"'],
    [{ 'Fn::Sub': '${Missing}' }, 'there is no "Missing"'],
    [{ 'Fn::Cidr': ['10.0.0.0/16', 6, 8] }, 'does not know the intrinsic function Fn::Cidr'],
    [{ 'Fn::If': ['Yes', 'then', 'else'] }, 'does not know the intrinsic function Fn::If'],
    [{ 'Fn::Select': [5, ['a']] }, 'no item 5'],
    [{ 'Fn::Join': ['', [{ a: 1 }]] }, 'needs text'],
  ])('%j is an error', (value, message) => {
    expect(() => resolveIntrinsics(value, scope)).toThrow(message);
  });
});
