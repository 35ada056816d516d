import t from 'tap'
import { configJsonSchema } from '../../src/config/config.ts'
import { redactedOf, secretDigestsOf } from '../../src/config/redacted.ts'

/** Names of keys whose text is not a secret. A new key that may be shown must be added here. */
const SHOWN: ReadonlySet<string> = new Set([
  'adminGroups',
  'allow',
  'reads',
  'adminUsers',
  'allowedHeaders',
  'allowedOrigins',
  'audience',
  'audit',
  'basePath',
  'ca',
  'callers',
  'cert',
  'client',
  'clients',
  'dateFormat',
  'deny',
  'disabledPermissions',
  'endpoint',
  'expressions',
  'file',
  'group',
  'groupsFile',
  'groupPrefix',
  'groups',
  'header',
  'host',
  'hosts',
  'issuer',
  'jwksUri',
  'master',
  'name',
  'namespace',
  'nodes',
  'operations',
  'origins',
  'path',
  'prefix',
  'probe',
  'publicUrl',
  'redis',
  'remoteName',
  'requestHeaders',
  'required',
  'responseHeaders',
  'serverName',
  'serviceName',
  'tenants',
  'to',
  'trustedProxies',
  'upstream',
  'url',
  'tools',
  'user',
  'userPrefix',
  'username',
  'users',
  'values',
])

type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns whether the text is a number with or without a unit, or a variable. It cannot be a secret. */
const isAmount = ({ pattern }: Schema): boolean =>
  typeof pattern === 'string' && pattern.startsWith(String.raw`^(\d+`)

/** Returns the paths of the configuration whose value may be free text, not one of a few words. */
function* textPaths(schema: unknown, path: readonly string[]): Generator<readonly string[]> {
  if (!isSchema(schema)) return
  if (
    schema['type'] === 'string' &&
    schema['enum'] === undefined &&
    schema['const'] === undefined &&
    !isAmount(schema)
  )
    yield path
  for (const form of [schema['anyOf'], schema['oneOf'], schema['allOf']])
    if (Array.isArray(form)) for (const one of form) yield* textPaths(one, path)
  if (schema['items'] !== undefined) yield* textPaths(schema['items'], [...path, '0'])
  yield* textPaths(schema['additionalProperties'], [...path, 'authorization'])
  for (const [name, member] of Object.entries(Object(schema['properties'])))
    yield* textPaths(member, [...path, name])
}

/** Returns a configuration with this text at a path. */
function configWith(path: readonly string[], text: string): unknown {
  const [name, ...rest] = path
  if (name === undefined) return text
  const member = configWith(rest, text)
  return name === '0' ? [member] : { [name]: member }
}

const PATHS = [...new Set([...textPaths(configJsonSchema(), [])].map((path) => path.join('.')))]
/**
 * Returns the last name of a path. For a member of `users`, which may have any name, this is `users`. For a header it
 * is the name of the header, because this name decides whether the value is a secret.
 */
const nameOf = (path: string): string =>
  path
    .replace(/\.users\.authorization$/, '.users')
    .split('.')
    .findLast((name) => name !== '0') ?? ''

t.test('every key with a text value is either listed as shown or redacted', async (t) => {
  const shown = PATHS.filter((path) =>
    JSON.stringify(redactedOf(configWith(path.split('.'), 'hunter2'))).includes('hunter2'),
  )
  t.same(new Set(shown.map(nameOf)), SHOWN)
})

t.test('every redacted key has a digest, so that a difference is detected', async (t) => {
  const secret = PATHS.filter((path) => !SHOWN.has(nameOf(path)))
  t.ok(secret.includes('traces.headers.authorization'))
  for (const path of secret) {
    const digests = await secretDigestsOf(configWith(path.split('.'), 'hunter2'), { key: 'k', salt: '00' })
    t.equal(Object.keys(digests).length, 1, path)
  }
})
