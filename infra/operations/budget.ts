import type { Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';

/**
 * Adds a monthly budget of the whole AWS account. AWS sends mail to the addresses when it forecasts that the month will cost more than the
 * budget, and when the month has cost more. The budget stops nothing.
 * @param name  must be unique in the account.
 */
export function addBudget(
  stack: Stack,
  { name, monthlyUsd, emails }: { name: string; monthlyUsd: number; emails: readonly string[] },
): void {
  new CfnBudget(stack, 'Budget', {
    budget: {
      budgetName: name,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: monthlyUsd, unit: 'USD' },
    },
    notificationsWithSubscribers: ['ACTUAL', 'FORECASTED'].map((notificationType) => ({
      notification: {
        notificationType,
        comparisonOperator: 'GREATER_THAN',
        threshold: 100,
        thresholdType: 'PERCENTAGE',
      },
      subscribers: emails.map((address) => ({ subscriptionType: 'EMAIL', address })),
    })),
  });
}
