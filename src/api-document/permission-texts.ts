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
    ...(anyOf ?? []).map(termText),
    ...(allOf === undefined ? [] : [allOf.map(termText).join(' and ')]),
  ].join(' or ')
  const condition = when === undefined ? '' : ` if ${when.replaceAll(/\b(?:body|query):(\w+)/g, '`$1`')}`
  return each === undefined ? terms + condition : `for each ${eachText(each)}${condition}: ${terms}`
}

function eachText(each: CheckTargetSet): string {
  const [, source, member = ''] = /^(body|query):(\w+)\[\]$/.exec(each) ?? []
  return source === undefined ? (EACH[each] ?? each) : `id in ${code(member)} of the ${source}`
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

function conditionText(and: ItemRestriction['and']): string {
  if (and === undefined) return ''
  const flag = and.when?.slice('query:'.length).replace(' is true', '')
  return (flag === undefined ? '' : `with ${code(flag)}: `) + and.anyOf.map(termText).join(' or ')
}

function itemsText({ anyOf, allOf, and, exempt }: ItemRestriction): string {
  const all = (terms: readonly PermissionTerm[] = []): string => terms.map(termText).join(' or ')
  const needed = [all(anyOf), (allOf ?? []).map(termText).join(' and '), conditionText(and)].filter(
    (text) => text !== '',
  )
  const open = exempt === undefined ? '' : ` (all items with ${exempt} are visible)`
  return needed.length === 0 ? `items of the caller's tenants` : `items: ${needed.join(' and ')}${open}`
}

/** `READ on the process definition {key}` */
function termText(term: PermissionTerm): string {
  const [name = '', attribute] = term.split(' ')
  const [resource = '', permission = ''] = name.split('.')
  return `${code(permission)} on ${resource.toLowerCase().replaceAll('_', ' ')}${attributeText(attribute)}`
}

function attributeText(attribute = ''): string {
  const fixed = FIXED[attribute]
  if (fixed !== undefined) return fixed
  const [, source = '', member = ''] = /^(path|query|body|item):(.*)$/.exec(attribute) ?? []
  if (source === 'path') return ` ${code(`{${member}}`)}`
  if (source !== '') return ` ${code(member)} of the ${source}`
  const [entity = '', name = ''] = attribute.split(/\.(?=\w+$)/)
  return entity === 'each' ? ` (its ${code(name)})` : ` ${code(name)} of ${entityText(entity)}`
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
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const member = source.slice(source.indexOf(':') + 1, -1)
  return member === '' ? `the ${words}` : `the ${words} that ${code(member)} names`
}

function code(text: string): string {
  return `\`${text}\``
}
