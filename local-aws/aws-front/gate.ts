import type { Permission, PolicyEvaluator, Verdict } from './policy-evaluator.ts';
import { type Account, type Caller, callerArn, type Principal } from './principals.ts';
import { Problem } from './problem.ts';

/** A permission that a principal used, has, or lacked. */
export interface Grant {
  /** The name of the principal. */
  readonly principal: string;
  readonly action: string;
  /** The ARN of the resource. */
  readonly resource: string;
}

export interface Gate {
  /** @throws Problem `access-denied` when a permission is missing; `onDenied` is called for each missing one. */
  require(caller: Caller, permissions: readonly Permission[]): Promise<void>;
  /** Whether the caller has a permission. `onDenied` is not called, because the request is answered either way. */
  allows(caller: Caller, permission: Permission): Promise<boolean>;
  /** Every permission used so far, without repetitions. Objects of one folder count as one: `arn:aws:s3:::bucket/folder/*`. */
  grantsUsed(): Grant[];
}

export function createGate(
  account: Account,
  evaluator: PolicyEvaluator,
  onDenied: (denied: Grant) => void = () => {},
): Gate {
  const used = new Map<string, Grant>();

  const remember = (caller: Caller, { action, resource }: Permission) => {
    const folder = resource.startsWith('arn:aws:s3:::') ? resource.replace(/\/[^/]*$/, '/*') : resource;
    used.set(`${caller.name} ${action} ${folder}`, { principal: caller.name, action, resource: folder });
  };

  return {
    async require(caller, permissions) {
      const missing: Permission[] = [];
      for (const permission of permissions) {
        if (await evaluator.isAllowed(caller, permission)) remember(caller, permission);
        else missing.push(permission);
      }
      for (const { action, resource } of missing) onDenied({ principal: caller.name, action, resource });
      const [first] = missing;
      if (!first) return;
      const { bucket: _, ...alone } = first;
      const verdicts = [await evaluator.judge(caller, first), await evaluator.judge(caller, alone)] as const;
      throw new Problem('access-denied', denial(callerArn(caller, account), first, verdicts));
    },
    async allows(caller, permission) {
      const isAllowed = await evaluator.isAllowed(caller, permission);
      if (isAllowed) remember(caller, permission);
      return isAllowed;
    },
    grantsUsed: () => [...used.values()],
  };
}

/**
 * The message of a denial. Source: S3 User Guide, "Troubleshoot access denied (403 Forbidden) errors".
 * @param verdicts  of all policies together, and of the caller's own alone.
 */
function denial(caller: string, { action, resource }: Permission, [ofAll, ofIdentity]: readonly Verdict[]): string {
  const policy = ofIdentity === 'ExplicitlyDenied' ? 'an identity-based' : 'a resource-based';
  const reason =
    ofAll === 'ExplicitlyDenied'
      ? `with an explicit deny in ${policy} policy`
      : `because no identity-based policy allows the ${action} action`;
  return `User: ${caller} is not authorized to perform: ${action} on resource: ${resource} ${reason}`;
}

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}

/**
 * The actions on resources that the policies of these principals allow and that were not used, as the policies write them. An action
 * with a wildcard counts as not used.
 */
export function unusedGrants(principals: Iterable<Principal>, used: readonly Grant[]): Grant[] {
  return [...principals].flatMap(grantsOf).filter((granted) => !used.some((use) => isUse(use, granted)));
}

function isUse(use: Grant, granted: Grant): boolean {
  if (use.principal !== granted.principal || use.action !== granted.action) return false;
  // `*` stands for any text. The resources of these policies have no other wildcard.
  const pattern = granted.resource.split('*').map(RegExp.escape).join('.*');
  return new RegExp(`^${pattern}$`).test(use.resource);
}

function grantsOf({ name, policies }: Principal): Grant[] {
  const statements = policies.flatMap(({ Statement }) => [Statement].flat() as Statement[]);
  return statements
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) => [Resource].flat().map((resource) => ({ principal: name, action, resource }))),
    );
}
