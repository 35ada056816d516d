import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { restartProblems } from '../../src/config/config-changes.ts'
import { schema } from '../../src/config/schema.ts'

/** The page that is made from the descriptions in `src/config`. */
export const REFERENCE = new URL('reference.md', import.meta.url)

/** The guides that go with a key, and with all keys below it. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  workers: ['workers.md'],
  'listen.trustedProxies': ['browsers.md#client-addresses'],
  'listen.publicUrl': ['browsers.md#links-in-answers'],
  'listen.allowedOrigins': ['browsers.md#pages-of-other-origins'],
  cors: ['browsers.md#pages-that-read-answers-cors'],
  admin: ['reload.md#the-admin-listener'],
  'engines.NAME.nodes': ['balancing.md'],
  'engines.NAME.credentials': ['identity.md#credentials-for-engines'],
  'engines.NAME.service': ['identity.md#credentials-for-engines'],
  'engines.NAME.deploymentAware': ['balancing.md#deployments'],
  identity: ['identity.md'],
  'identity.open': ['identity.md#what-is-open-without-credentials'],
  'identity.tokens': ['tokens.md'],
  authorization: ['identity.md#records'],
  'authorization.mode': ['../explain.md'],
  validation: ['validation.md'],
  health: ['balancing.md#health'],
  cache: ['caching.md'],
  'cache.redis': ['redis.md', '../idempotency.md'],
  'cache.signingKeys': ['caching.md#what-redis-is-trusted-with'],
  idempotency: ['../idempotency.md'],
  'limits.connections': ['balancing.md#load'],
  'limits.queue': ['balancing.md#load'],
  'limits.longPolls': ['long-polls.md'],
  'limits.rate': ['limits.md#rates'],
  'limits.pressure': ['limits.md#pressure', '../runbooks/GatewayOverloaded.md'],
  passthrough: ['passthrough.md'],
  'log.audit': ['../audit.md'],
  traces: ['../traces.md'],
}

const INTRODUCTION = `# Configuration reference

Made by \`npm run docs:configuration\` from the descriptions in \`src/config\`; a test fails when it differs. [The index](README.md) says how a
file is written.

*Reload*: a change counts with the next [reload](reload.md). *Restart*: a running process refuses the change.
`

/** Every key of the configuration: what it takes, its default, when a change counts, and its effect. */
export function referencePage(): string {
  return [INTRODUCTION, ...keysOf('', schema, '').map(textOfKey)].join('\n')
}

interface Key {
  readonly path: string
  /** Of a key in several forms of a section, one for each. */
  readonly types: readonly z.core.$ZodType[]
  readonly description: string
  /** The only form of the section that has the key: `source: engine`. */
  readonly only: string
}

/** An engine's own sections have the keys of the general ones. */
const AS_THE_GENERAL_ONE = /^engines\.NAME\.(identity|authorization|validation|health|rate)$/

function keysOf(path: string, type: z.core.$ZodType, only: string): readonly Key[] {
  const at = unwrap(type)
  if (AS_THE_GENERAL_ONE.test(path)) return []
  if (at instanceof z.ZodRecord) return keysOf(`${path}.NAME`, at.valueType, only)
  if (at instanceof z.ZodArray) return keysOf(`${path}[]`, at.element, only)
  const objects = objectsOf(at)
  const names = new Set(objects.flatMap(({ shape }) => Object.keys(shape)))
  return [...names].flatMap((name) => {
    const having = objects.filter(({ shape }) => Object.hasOwn(shape, name))
    const child = path === '' ? name : `${path}.${name}`
    const restriction = having.length === objects.length ? only : having.map(sourceOf).join('')
    const types = having.flatMap(({ shape }) => shape[name] ?? [])
    return [
      { path: child, types, description: descriptionIn(having, name), only: restriction },
      ...types.slice(0, 1).flatMap((first) => keysOf(child, first, restriction)),
    ]
  })
}

/** Where the forms of a section describe a key in different words, each with its form. */
function descriptionIn(forms: readonly z.ZodObject[], name: string): string {
  const texts = forms.map((form) => ({ form, text: metaOf(form.shape[name] ?? form, 'description') }))
  const given = texts.filter(({ text }) => text !== '')
  if (new Set(given.map(({ text }) => text)).size < 2) return given[0]?.text ?? ''
  return given.map(({ form, text }) => `With \`${sourceOf(form)}\`: ${text}`).join('\n\n')
}

function sourceOf({ shape }: z.ZodObject): string {
  return shape['source'] instanceof z.ZodLiteral ? `source: ${[...shape['source'].values].join('')}` : ''
}

function objectsOf(type: z.core.$ZodType): readonly z.ZodObject[] {
  const at = unwrap(type)
  if (at instanceof z.ZodObject) return [at]
  return at instanceof z.ZodUnion ? at.options.flatMap(objectsOf) : []
}

function textOfKey({ path, types, description, only }: Key): string {
  const [type = schema] = types
  const isSection = SECTIONS.some((kind) => unwrap(type) instanceof kind)
  const facts = [
    only === '' ? '' : `with \`${only}\``,
    [...new Set(types.map(valueOf))].join(' or '),
    ...(isSection
      ? [isRequired(type) ? 'required' : '']
      : [defaultOf(type), restartProblems([path]).length > 0 ? 'restart' : 'reload']),
  ].filter((fact) => fact !== '')
  const guides = GUIDES[path]?.map((file) => `[${file.replace('../', '')}](${file})`) ?? []
  const see = guides.length === 0 ? '' : ` See ${guides.join(' and ')}.`
  const heading = path.includes('.') || path.includes('[') ? '###' : '##'
  return `${heading} \`${path}\`\n\n*${facts.join(' · ')}*\n\n${description}${see}\n`
}

const SECTIONS = [z.ZodObject, z.ZodRecord, z.ZodDiscriminatedUnion]

function isRequired(type: z.core.$ZodType): boolean {
  const isLeftOut =
    type instanceof z.ZodOptional || type instanceof z.ZodDefault || type instanceof z.ZodPrefault
  return !isLeftOut
}

/** The first description and title from outside in. */
function metaOf(type: z.core.$ZodType, member: 'description' | 'title'): string {
  const own = z.globalRegistry.get(type)?.[member]
  const inner = innerOf(type)
  return own ?? (inner === null ? '' : metaOf(inner, member))
}

function valueOf(type: z.core.$ZodType): string {
  const nullable = type instanceof z.ZodNullable || (innerOf(type) ?? type) instanceof z.ZodNullable
  return `${metaOf(type, 'title') || plainValueOf(unwrap(type))}${nullable ? ', or `null`' : ''}`
}

function plainValueOf(at: z.core.$ZodType): string {
  if (at instanceof z.ZodLiteral) return [...at.values].map((value) => `\`${value}\``).join(', ')
  if (at instanceof z.ZodEnum) return at.options.map((value) => `\`${value}\``).join(', ')
  if (at instanceof z.ZodBoolean) return '`true`, `false`'
  if (at instanceof z.ZodArray) return `list of: ${valueOf(at.element)}`
  if (at instanceof z.ZodRecord) return 'section with names of your choice'
  if (at instanceof z.ZodObject) return 'section'
  if (at instanceof z.ZodDiscriminatedUnion) return 'section'
  if (at instanceof z.ZodUnion) return at.options.map(valueOf).join(' or ')
  return 'text'
}

/** In the words of the file. */
function defaultOf(type: z.core.$ZodType): string {
  if (type instanceof z.ZodOptional) return 'default: none'
  if (!(type instanceof z.ZodDefault)) return isRequired(type) ? 'required' : ''
  const value: unknown = type.def.defaultValue
  const title = metaOf(type, 'title')
  if (typeof value !== 'number')
    return `default: \`${value === '' ? '""' : JSON.stringify(value).replaceAll('"', '')}\``
  if (title.startsWith('duration')) return `default: \`${amountOf(value, DURATIONS)}\``
  return `default: \`${title.startsWith('size') ? amountOf(value, SIZES) : value}\``
}

const DURATIONS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }
const SIZES = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, B: 1 }

function amountOf(value: number, units: Readonly<Record<string, number>>): string {
  const [unit, factor] = Object.entries(units).find(([, one]) => value % one === 0) ?? ['', 1]
  return `${value / factor}${unit}`
}

function unwrap(type: z.core.$ZodType): z.core.$ZodType {
  const inner = innerOf(type)
  return inner === null ? type : unwrap(inner)
}

function innerOf(type: z.core.$ZodType): z.core.$ZodType | null {
  if (type instanceof z.ZodPipe) return type.in
  const wraps =
    type instanceof z.ZodOptional ||
    type instanceof z.ZodDefault ||
    type instanceof z.ZodPrefault ||
    type instanceof z.ZodNullable
  return wraps ? type.unwrap() : null
}

if (import.meta.main) {
  const page = referencePage()
  writeFileSync(REFERENCE, page)
  process.stdout.write(`${readFileSync(REFERENCE, 'utf8').split('\n').length} lines\n`)
}
