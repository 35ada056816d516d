import { type OperatorText, operatorText, ownText } from '../../errors.ts'
import { PUBLISHED_IDS, PUBLISHED_SCHEMAS, publishedMembers, publishedParameters, publishedRoute } from './facts.ts'

/** Members of free data that the schemas do not list. */
const OTHER_MEMBERS = ['objectTypeName', 'serializationDataFormat', 'transient', 'filename', 'mimeType', 'encoding']

/**
 * The names of all members and parameters of the published API. A name in a request that is not one of them is chosen by the caller,
 * like the name of a variable, and may be a value.
 */
const NAMES: ReadonlySet<string> = new Set([
  ...PUBLISHED_SCHEMAS.flatMap(publishedMembers),
  ...PUBLISHED_IDS.flatMap(publishedParameters),
  ...OTHER_MEMBERS,
])

/** The parts of the paths of the published API, without parameters. */
const SEGMENTS: ReadonlySet<string> = new Set(
  PUBLISHED_IDS.flatMap((id) => publishedRoute(id).split('/').slice(1)).filter((part) => !part.startsWith('{')),
)

/** Longest place in a log line. */
const MAX_PLACE_CHARS = 200

/** Returns a name of the API for a log line. A name that a caller chose is shown as `*`. */
export function nameText(name: string): OperatorText {
  return NAMES.has(name) ? ownText(name) : operatorText`*`
}

/** Returns the place of a member in a body for a log line: `$.variables.*.value`. */
export function placeText(path: readonly PropertyKey[]): OperatorText {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${nameText(String(step))}`))
  return ownText(`$${steps.join('')}`.slice(0, MAX_PLACE_CHARS))
}

/** Returns the path of a lookup for a log line, without ids and parameters. */
export function pathText(path: string): OperatorText {
  const [parts = ''] = path.split('?', 1)
  const shown = parts.split('/').map((part) => (part === '' || SEGMENTS.has(part) ? part : '*'))
  return ownText(shown.join('/'))
}
