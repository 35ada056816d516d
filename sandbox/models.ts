/** An activity in which an instance waits. */
export type Activity =
  | {
      readonly kind: 'user'
      readonly id: string
      readonly name: string
      readonly groups: readonly string[]
      readonly assignee: string | null
    }
  | { readonly kind: 'external'; readonly id: string; readonly topic: string; readonly priority: number }
  | { readonly kind: 'signal' | 'message'; readonly id: string; readonly event: string }
  | { readonly kind: 'receive'; readonly id: string }

export interface FormField {
  readonly id: string
  readonly label: string
  readonly type: 'string' | 'long' | 'boolean'
  readonly initial: string | null
  readonly min: number | null
}

/** A process that waits in all its activities at once after its start. It ends when all activities are completed. */
export interface ProcessModel {
  readonly key: string
  readonly name: string
  readonly version: number
  readonly tenantId: string | null
  readonly form: readonly FormField[]
  readonly activities: readonly Activity[]
}

export const NAMESPACE = 'http://engine-gateway/sandbox'

const reviewForm: readonly FormField[] = [
  { id: 'title', label: 'Title', type: 'string', initial: null, min: null },
  { id: 'amount', label: 'Amount', type: 'long', initial: '10', min: 1 },
  { id: 'approved', label: 'Approved', type: 'boolean', initial: 'false', min: null },
]

const reviewTask: Activity = {
  kind: 'user',
  id: 'reviewTask',
  name: 'Review it',
  groups: ['accounting', 'management'],
  assignee: null,
}

export const review: ProcessModel = {
  key: 'review',
  name: 'Review',
  version: 1,
  tenantId: null,
  form: reviewForm,
  activities: [reviewTask],
}

export const tenantReview: ProcessModel = { ...review, key: 'tenantReview', tenantId: 'acme' }

export const external: ProcessModel = {
  key: 'external',
  name: 'External',
  version: 1,
  tenantId: null,
  form: [],
  activities: [{ kind: 'external', id: 'work', topic: 'work', priority: 5 }],
}

export const catching: ProcessModel = {
  key: 'catching',
  name: 'Catching',
  version: 1,
  tenantId: null,
  form: [],
  activities: [
    { kind: 'signal', id: 'catchSignal', event: 'stopAll' },
    { kind: 'message', id: 'catchMessage', event: 'orderPaid' },
    { kind: 'receive', id: 'receive' },
  ],
}

export function moving(version: 1 | 2): ProcessModel {
  const stay: Activity = { kind: 'user', id: 'stay', name: `Stay ${version}`, groups: [], assignee: 'demo' }
  return { key: 'moving', name: 'Moving', version, tenantId: null, form: [], activities: [stay] }
}

export const discount = {
  key: 'discount',
  name: 'Discount',
  version: 1,
  xml: `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:camunda="http://camunda.org/schema/1.0/dmn"
             id="discounts" name="Discount" namespace="${NAMESPACE}">
  <decision id="discount" name="Discount" camunda:historyTimeToLive="P30D">
    <decisionTable id="table" hitPolicy="FIRST">
      <input id="amountInput" label="Amount">
        <inputExpression id="amountExpression" typeRef="integer"><text>amount</text></inputExpression>
      </input>
      <output id="discountOutput" label="Discount" name="discount" typeRef="integer" />
      <rule id="large">
        <inputEntry id="largeAmount"><text>&gt;= 100</text></inputEntry>
        <outputEntry id="largeDiscount"><text>10</text></outputEntry>
      </rule>
      <rule id="small">
        <inputEntry id="smallAmount"><text>&lt; 100</text></inputEntry>
        <outputEntry id="smallDiscount"><text>0</text></outputEntry>
      </rule>
    </decisionTable>
  </decision>
</definitions>
`,
  /** One transparent pixel. */
  diagram: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  ),
} as const
