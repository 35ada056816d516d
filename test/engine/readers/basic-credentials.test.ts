import t from 'tap'
import { readBasic } from '../../../src/policy/authn/credentials.ts'
import type { Random } from '../../differential/random.ts'
import { javaSkip } from '../../support/requirements.ts'
import { compareReaders } from './compare.ts'
import { openEngine } from './open-engine.ts'
import { words } from './texts.ts'

/** By default a wrong password locks its user for a while. These options disable this. */
const NO_LOCK = ['base', 'max-time'].map(
  (name) => `--camunda.bpm.generic-properties.properties.login-delay-${name}=0`,
)

/** Passwords may be any text. User ids consist of letters and digits only. */
const PASSWORDS = [
  ...words('a : a:b :: ä € 😀 p%C3%A4 "q" \\ ß \u00e4 \ufeffx x\ufeff ÿ ~ null = a= a+b/c \ufffd'),
  ' a',
  'a ',
  'a b',
  'a\u00a0',
  '\u00a0a',
  '\u2003',
  'a\u0085',
  'e\u0301',
]
const SCHEMES = [...words('Basic Basic basic BASIC bAsIc Bearer Basi Basicx Basic,'), '']
const BLANKS = [' ', ' ', ' ', ' ', ' ', ' ', '  ', '\t', ' \t', '', '\u00a0', ' = ']

interface Sent {
  readonly header: string
  /** Index of the user whose credentials the header was made from. */
  readonly user: number
}

function makeHeader(random: Random): Sent {
  const user = random.below(PASSWORDS.length)
  const password = PASSWORDS[user] ?? ''
  const plain = random.chance(0.8)
    ? `reader${user}:${password}`
    : random.pick([
        `reader${user}`,
        `:${password}`,
        `reader${user}:${password} `,
        ` reader${user}:${password}`,
        `\ufeffreader${user}:${password}`,
        `Reader${user}:${password}`,
        `reader${user}:${password}\u0000`,
        `reader${user}\u0000:${password}`,
        `reader${user} :${password}`,
        `reader${user}:`,
        `reader${user}:${password}\n`,
        `reader${user}:${password.normalize('NFC')}`,
        `reader${user}::${password}`,
      ])
  const bytes = random.chance(0.93)
    ? Buffer.from(plain)
    : Buffer.from(plain, random.pick(['latin1', 'utf16le']))
  const coded = bytes.toString('base64')
  const scheme = random.chance(0.8) ? 'Basic' : random.pick(SCHEMES)
  return {
    user,
    header: `${scheme}${random.chance(0.9) ? ' ' : random.pick(BLANKS)}${mutated(random, coded)}`,
  }
}

function mutated(random: Random, coded: string): string {
  if (random.chance(0.5)) return coded
  const at = random.below(coded.length + 1)
  const put = (text: string) => coded.slice(0, at) + text + coded.slice(at)
  return random.pick([
    () => coded.replace(/=+$/, ''),
    () => `${coded}=`,
    () => coded.replaceAll('+', '-').replaceAll('/', '_'),
    () =>
      put(random.pick([' ', '\t', '.', '!', '-', '_', '=', '==', ',', '%', '\u00e4', '"', ':', 'A', '\\'])),
    () => `"${coded}"`,
    () => `${coded}, ${coded}`,
    () => `${coded} x`,
    () => coded.replace(/[A-Za-z0-9+/](=*)$/, `${random.pick('BCDEFGHQgw/'.split(''))}$1`),
    () => coded + Buffer.from('x').toString('base64'),
    () => `${coded},`,
    () => `${coded};`,
    () => `${coded} `,
    () => ` ${coded}`,
  ])()
}

t.test('the engine reads credentials as the gateway does', { skip: javaSkip }, async (t) => {
  const { ask, make } = await openEngine(t, { secured: true, args: NO_LOCK })
  const authorization = `Basic ${Buffer.from('demo:demo').toString('base64')}`
  for (const [index, password] of PASSWORDS.entries())
    await make(
      'POST /user/create',
      { profile: { id: `reader${index}` }, credentials: { password } },
      { authorization },
    )
  await compareReaders(t, {
    what: 'Basic credentials',
    inputs: 2000,
    part: 71,
    maxRefused: 0.6,
    make: makeHeader,
    compare: async ({ header, user }) => {
      const sent = Buffer.from(header).toString('latin1').trim()
      const read = readBasic(sent)
      if (read === null) return 'refused'
      const isRight = read.user === `reader${user}` && read.password === PASSWORDS[user]
      // Each user may read their own profile and no other profile.
      const { status } = await ask({ path: `/user/reader${user}/profile`, headers: { authorization: sent } })
      // The engine accepts only one spelling of the scheme, as docs/deviations.md says.
      if (status === 401 && !sent.startsWith('Basic ')) return null
      return status === (isRight ? 200 : 401) ? null : { engine: status, gateway: read }
    },
  })
})
