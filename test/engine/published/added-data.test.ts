import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { ADDED_VARIABLES } from '../../../src/operations/table.ts'
import { javaSkip } from '../../support/requirements.ts'
import { publishedOperations } from './openapi.ts'

/** Names of members and parameters that may add data to the items of a response. */
const ADDS = /^(with|include|disable|deserialize|fetch|return)[A-Z]|InReturn$|Info$|^itemCount$/

/** Members that select items, and members that change the format of a value. They add no data to an item. */
const ADDS_NOTHING = new Set([
  'deserializeValue',
  'deserializeValues',
  'disableBinaryFetching',
  'disableCustomObjectDeserialization',
])
const SELECTS = /WithoutTenantId$|^include(AssignedTasks|Deleted|Incidents\w*|ProcessInstances|TenantIds?)$/
const SELECTS_BY =
  /^with(Candidate|Empty|Exception|Failures|Incident|JobsRetrying|Job|Locked|Overriding|Retries|RootIncidents|Unlocked)/

/** Members that add data without a further check by a secured engine (Camunda 7.22 and 7.24). */
const UNCHECKED: Readonly<Record<string, string>> = {
  includeInputs: 'inputs of a decision instance belong to the instance',
  includeOutputs: 'outputs of a decision instance belong to the instance',
  withCommentAttachmentInfo: 'two flags that say whether there are comments and attachments',
}

t.test(
  'a member that adds data to the items of a list has a check, or needs none',
  {
    skip: javaSkip,
  },
  async (t) => {
    const published = await publishedOperations('7.24.0')
    const rows = new Map(
      OPERATIONS.map((operation) => [`${operation.method} ${operation.template}`, operation]),
    )
    let seen = 0
    for (const { method, path, members, parameters } of published) {
      const operation = rows.get(`${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`)
      const { items: list, handler } = operation ?? {}
      if (list === undefined || list.form === 'count') continue
      for (const name of new Set([...parameters, ...members])) {
        if (!mayAdd(name)) continue
        seen += 1
        const checks = {
          ...(handler === 'added variables' && ADDED_VARIABLES),
          ...UNCHECKED,
          ...(handler === 'item counts' && { itemCount: handler }),
        }
        t.ok(Object.hasOwn(checks, name), `${method} ${path}: ${name}`)
      }
    }
    t.ok(seen >= 6, `${seen} members`)
  },
)

function mayAdd(name: string): boolean {
  return ADDS.test(name) && !ADDS_NOTHING.has(name) && !SELECTS.test(name) && !SELECTS_BY.test(name)
}
