import type { Check, CheckTargetSet, ItemRestriction, PermissionTerm } from '../operations/notation.ts'
import type { Operation } from '../operations/table.ts'

/** Returns a text in Markdown for each check of an operation, in the order of the engine, and for its items. Empty if every caller passes. */
export function permissionTextsOf({ checks, items }: Pick<Operation, 'checks' | 'items'>): readonly string[] {
  const texts = [
    ...checks.map((check) => (isOfCommand(check) ? COMMAND_PERMISSIONS : checkText(check))),
    ...(items === undefined ? [] : [itemsText(items)]),
  ].filter((text) => text !== '')
  return [...new Set(texts)]
}

/** A job runs one of many commands, each with permissions of its own. */
export const COMMAND_PERMISSIONS = 'the permissions of the command of the job'

function isOfCommand({ when }: Check): boolean {
  return when?.startsWith('the job runs ') === true
}

function checkText({ anyOf, allOf, admin, when, each }: Check): string {
  const terms = [
    ...(admin === true ? ['administrator'] : []),
    ...(anyOf === undefined ? [] : [termsText(anyOf, 'or')]),
    ...(allOf === undefined ? [] : [termsText(allOf, 'and')]),
  ].join(' or ')
  const limits = [
    ...(each === undefined ? [] : [`for each ${eachText(each)}`]),
    ...(when === undefined ? [] : [`if ${conditionText(when)}`]),
  ]
  return limits.length === 0 ? terms : `${limits.join(', ')}: ${terms}`
}

/** `body:id given`: `id` is given. */
function conditionText(when: string): string {
  return when.replaceAll(/\b(?:body|query):(\w+)/g, '`$1`').replaceAll(/ (given|absent)\b/g, ' is $1')
}

function eachText(each: CheckTargetSet): string {
  const [, source, member = ''] = /^(body|query):(\w+)\[\]$/.exec(each) ?? []
  return source === undefined ? (EACH[each] ?? each) : `value of ${code(member)} in the ${source}`
}

/** The ids and entities that checks run over. */
const EACH: Readonly<Partial<Record<CheckTargetSet, string>>> = {
  conditionalStarts: 'definition that the condition can start',
  correlatedDefinitions: 'definition that the message can start',
  correlatedExecutions: 'execution that the message can reach',
  definitions: 'process definition',
  externalTasks: 'selected external task',
  modifiedInstances: 'selected process instance',
  processInstances: 'selected process instance',
  restartedInstances: 'selected process instance',
  signalStarts: 'definition that the signal can start',
  signalSubscriptions: 'execution that the signal can reach',
  versionsOfKey: 'version of the key',
}

/** Another condition begins after a semicolon, because each of them may contain several permissions with "or". */
function itemsText({ anyOf, allOf, and, exempt }: ItemRestriction): string {
  const needed = [termsText(anyOf ?? [], 'or'), termsText(allOf ?? [], 'and'), furtherText(and)].filter(
    (text) => text !== '',
  )
  const open = exempt === undefined ? '' : ` (all items with ${EXEMPT_TEXTS[exempt] ?? exempt} are visible)`
  return needed.length === 0 ? `items of the caller's tenants` : `items: ${needed.join('; and ')}${open}`
}

const EXEMPT_TEXTS: Readonly<Partial<Record<NonNullable<ItemRestriction['exempt']>, string>>> = {
  case: 'a case',
}

function furtherText(and: ItemRestriction['and']): string {
  if (and === undefined) return ''
  const terms = termsText(and.anyOf, 'or')
  return and.when === undefined ? terms : `if ${conditionText(and.when)}: ${terms}`
}

/** Names the permissions on the same entity together: `UPDATE` or `TASK_WORK` on task `{id}`. */
function termsText(terms: readonly PermissionTerm[], word: 'or' | 'and'): string {
  const targets = new Map<string, { readonly text: string; readonly permissions: string[] }>()
  let former = ''
  for (const term of terms) {
    const [name = '', attribute = ''] = term.split(' ')
    const [resource = '', permission = ''] = name.split('.')
    const key = `${resource} ${attribute}`
    const { text, entity } = targetOf({ resource, attribute, former })
    former = entity
    const target = targets.get(key) ?? { text, permissions: [] }
    targets.set(key, target)
    target.permissions.push(code(permission))
  }
  const comma = targets.size < terms.length ? ',' : ''
  return [...targets.values()]
    .map(({ text, permissions }) => `${permissions.join(` ${word} `)} on ${text}`)
    .join(`${comma} ${word} `)
}

/** An entity of a permission. `former`: the entity that the text has named before it. */
interface PermissionTarget {
  readonly resource: string
  readonly attribute: string
  readonly former: string
}

/** Returns the text for an entity of a permission, and the entity that a following text can refer to. */
function targetOf({ resource, attribute, former }: PermissionTarget): {
  readonly text: string
  readonly entity: string
} {
  const kind = resource.toLowerCase().replaceAll('_', ' ')
  const [, source = '', name = ''] = /^(.*)[.:](\w+)$/.exec(attribute) ?? []
  const entity = entityText(source)
  if (name === NAMING[resource] && !SOURCES.has(source)) {
    const isKnown = source === 'each' || source === 'item' || entity === former
    return { text: isKnown ? `its ${kind}` : `the ${kind} of ${entity}`, entity }
  }
  const own = ownTextOf(kind, source, name)
  return own === null
    ? { text: kind + attributeText(attribute), entity: `the ${kind}` }
    : { text: own, entity }
}

/** Returns the text for an entity that the attribute names by its own id or key. Null for other attributes. */
function ownTextOf(kind: string, source: string, name: string): string | null {
  if (name !== 'id' && name !== 'key') return null
  if (source === 'each' || source.includes('(each:')) return `this ${kind}`
  const entity = entityText(source)
  return entity.startsWith(`the ${kind}`) ? entity : null
}

/** The attribute of another entity that names an entity of the resource. */
const NAMING: Readonly<Record<string, string>> = {
  DECISION_DEFINITION: 'decisionDefinitionKey',
  PROCESS_DEFINITION: 'processDefinitionKey',
  PROCESS_INSTANCE: 'processInstanceId',
  TASK: 'taskId',
}
const SOURCES: ReadonlySet<string> = new Set(['path', 'query', 'body'])

function attributeText(attribute: string): string {
  const fixed = FIXED[attribute]
  if (fixed !== undefined) return fixed
  const [, source = '', member = ''] = /^(path|query|body|item):(.*)$/.exec(attribute) ?? []
  if (source === 'path') return ` ${code(`{${member}}`)}`
  if (source !== '') return ` ${code(member)} of the ${source}`
  const [entity = '', name = ''] = attribute.split(/\.(?=\w+$)/)
  return ` ${code(name)} of ${entityText(entity)}`
}

const FIXED: Readonly<Record<string, string>> = {
  '': '',
  '*': ' `*`',
  caller: ' of the caller',
  'created.id': ' that was created',
}

/** `processDefinition(body:processDefinitionId)`: the process definition that `processDefinitionId` names. */
function entityText(entity: string): string {
  const [name = '', source = ''] = entity.split('(')
  const words = (ENTITY_NAMES[name] ?? name).replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const member = source.slice(source.indexOf(':') + 1, -1)
  return member === '' ? `the ${words}` : `the ${words} that ${code(member)} names`
}

/** Look-ups that find the same entity as another one, under other rules. */
const ENTITY_NAMES: Readonly<Partial<Record<string, string>>> = { jobOfInstance: 'job' }

function code(text: string): string {
  return `\`${text}\``
}
