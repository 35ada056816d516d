import type { PathRule } from '../../config/path-rules.ts'
import { API_WORDS } from '../../operations/api-words.ts'
import { decodedPart } from '../../request/target.ts'

/** Why a path is not forwarded. For the audit log. */
export type GuardRule =
  | 'first-time setup'
  | 'spelling'
  | 'server functions'
  | 'engine API'
  | 'web application API'
  | 'deny'
  | 'allow'

/** Returns the rule that refuses a request to an application. Null if the request may be forwarded. */
export type PathGuard = (method: string, path: string) => GuardRule | null

export interface PathGuardOptions {
  readonly prefix: string
  /** The path of the nodes, which replaces the prefix. */
  readonly nodePath: string
  /** The paths of the APIs of engines on the hosts of the nodes. Null if no engine is known to be there. */
  readonly enginePaths: readonly string[] | null
  /** Whether the functions of an engine's web applications are forwarded to the host of an engine. */
  readonly forwardsFunctions: boolean
  readonly deny: readonly PathRule[]
  /** If empty, every path is allowed. */
  readonly allow: readonly PathRule[]
}

/**
 * The first-time setup creates an administrator, without credentials, in an engine whose group of administrators is empty. The group
 * is always empty if users and records are in files of the gateway. An application needs this function at most once.
 */
const SETUP = [
  ['api', 'admin', 'setup'],
  ['services', 'v1', 'setup'],
]

/** The API of an engine's web applications: `/api/engine/engine/default/task`. */
const WEB_APPLICATIONS: ReadonlySet<string> = new Set(['admin', 'cockpit', 'engine', 'tasklist', 'welcome'])

/** Functions of a server that need no login, or have one of their own. They show memory and secrets, or run code. */
const SERVER_FUNCTIONS: ReadonlySet<string> = new Set([
  'actuator',
  'druid',
  'h2-console',
  'hawtio',
  'heapdump',
  'jolokia',
])

/** Applications that some servers have besides those of the engine. Their path begins at the root. */
const SERVER_APPLICATIONS: ReadonlySet<string> = new Set(['manager', 'host-manager'])

/** The path of the API on a server, unless it was changed. */
const USUAL_API = 'engine-rest'

/** An escape of a character that never needs one (RFC 3986 section 2.3). Only a second spelling of a path contains it. */
const NEEDLESS_ESCAPE = /%(?:2[de]|3\d|[46][1-9a-f]|[57][0-9a]|5f|7e)/i

/** Path of a request at a node. */
interface TargetPath {
  /** The segments as the client sent them. */
  readonly raw: readonly string[]
  /**
   * The segments decoded, in lower case. A server that decodes them, or ignores case or the form of letters, reads them so. They can be
   * more than the raw ones: a slash of another width becomes a separator.
   */
  readonly folded: readonly string[]
}

/**
 * Creates the decision on paths below a prefix. It reads the path that the node gets, not the path of the client. The first stage has
 * refused all paths with dot segments, `//` or `;`, also encoded. A rule that refuses also applies to every other spelling of its
 * path. A rule that permits applies to one spelling.
 */
export function createPathGuard(options: PathGuardOptions): PathGuard {
  const { prefix, nodePath, enginePaths, forwardsFunctions, deny, allow } = options
  const ownPath = segmentsOf(nodePath)
  const apis = enginePaths?.map((path) => foldAll(segmentsOf(path)))
  return function ruleFor(method, path) {
    const below = segmentsOf(path.slice(prefix.length))
    const raw = [...ownPath, ...below]
    const target = { raw, folded: foldAll(raw) }
    if (SETUP.some((words) => contains(target.folded, words))) return 'first-time setup'
    if (apis !== undefined) {
      if (NEEDLESS_ESCAPE.test(path)) return 'spelling'
      if (isServerFunction(target.folded)) return 'server functions'
      if (apis.some((api) => isApiOf(api, target.folded))) return 'engine API'
      const rule = webApplicationRule(target, method)
      if (rule === 'spelling' || (rule !== null && !forwardsFunctions)) return rule
    }
    const foldedBelow = foldAll(below)
    if (deny.some((rule) => matches(rule, method, foldedBelow, (literal) => literal.toLowerCase())))
      return 'deny'
    return allow.length === 0 || allow.some((rule) => matches(rule, method, below)) ? null : 'allow'
  }
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '')
}

/** Characters without a form of their own, and the dot that `toLowerCase` keeps of a capital I with a dot. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u0307]/gu

/** Returns segments as a server reads them that decodes them, and ignores case and the form of letters and separators. */
function foldAll(segments: readonly string[]): readonly string[] {
  return segments
    .flatMap((segment) => (segment.includes('%') ? fold(segment).split(/[/\\]/) : [segment.toLowerCase()]))
    .filter((segment) => segment !== '')
}

/** Case is folded both ways, as in `equalsIgnoreCase` of Java, for which an i without a dot is an i. What follows a `;` is no name. */
function fold(segment: string): string {
  const text = (decodedPart(segment) ?? segment).normalize('NFKC')
  return text.toUpperCase().toLowerCase().replace(INVISIBLE, '').replace(/;.*$/s, '')
}

function contains(segments: readonly string[], words: readonly string[]): boolean {
  return segments.some((_, at) => words.every((word, index) => segments[at + index] === word))
}

function isServerFunction(folded: readonly string[]): boolean {
  const [first = ''] = folded
  return SERVER_APPLICATIONS.has(first) || folded.some((segment) => SERVER_FUNCTIONS.has(segment))
}

/** Returns whether a path is one of the API that an engine has at `api`. Other paths there are those of an application. */
function isApiOf(api: readonly string[], folded: readonly string[]): boolean {
  const word = api.every((segment, index) => folded[index] === segment) ? folded[api.length] : undefined
  if (word !== undefined && API_WORDS.has(word)) return true
  return folded.some((segment, at) => segment === USUAL_API && API_WORDS.has(folded[at + 1] ?? ''))
}

/** Returns the rule about the API of an engine's web applications. `spelling`: it has one spelling only. */
function webApplicationRule({ raw, folded }: TargetPath, method: string): GuardRule | null {
  const at = folded.findIndex(
    (segment, index) =>
      (segment === 'api' && WEB_APPLICATIONS.has(folded[index + 1] ?? '')) ||
      (segment === 'services' && folded[index + 1] === 'v1'),
  )
  if (at < 0) return null
  if (raw[at] !== folded[at] || raw[at + 1] !== folded[at + 1]) return 'spelling'
  return isPluginFile(raw.slice(at), method) ? null : 'web application API'
}

/** Returns whether a path is a file of the pages: `/api/cockpit/plugin/base/static/app/plugin.js`. */
function isPluginFile(segments: readonly string[], method: string): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  return (
    isRead &&
    segments[0] === 'api' &&
    segments[2] === 'plugin' &&
    segments[4] === 'static' &&
    segments.length > 5
  )
}

/** Returns whether a rule names a path. A rule for GET also names HEAD. */
function matches(
  { method, segments, isOpenEnded }: PathRule,
  sent: string,
  below: readonly string[],
  read = (literal: string) => literal,
): boolean {
  if (method !== null && method !== sent && !(method === 'GET' && sent === 'HEAD')) return false
  if (below.length < segments.length || (!isOpenEnded && below.length > segments.length)) return false
  return segments.every((literal, index) => literal === null || read(literal) === below[index])
}
